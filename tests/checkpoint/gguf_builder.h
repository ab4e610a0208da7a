// Builds GGUF files byte by byte for tests, with every count and offset open to falsification.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/checkpoint/test_files.h"

namespace scantling::test {

class GgufBuilder {
 public:
  uint32_t version = 3;
  int64_t extra_keys = 0, extra_tensors = 0;  // claimed beyond what is there
  size_t alignment = 32;

  static std::string text(const std::string& value) { return raw<uint64_t>(value.size()) + value; }

  GgufBuilder& key(const std::string& name, uint32_t kind, const std::string& value) {
    keys_.push_back(text(name) + raw(kind) + value);
    return *this;
  }
  GgufBuilder& number(const std::string& name, uint32_t value) { return key(name, 4, raw(value)); }
  GgufBuilder& number(const std::string& name, float value) { return key(name, 6, raw(value)); }
  GgufBuilder& flag(const std::string& name, bool value) { return key(name, 7, raw(value)); }
  GgufBuilder& string(const std::string& name, const std::string& value) { return key(name, 8, text(value)); }
  GgufBuilder& strings(const std::string& name, const std::vector<std::string>& values) {
    std::string bytes = raw(uint32_t{8}) + raw<uint64_t>(values.size());
    for (const auto& value : values) bytes += text(value);
    return key(name, 9, bytes);
  }
  GgufBuilder& integers(const std::string& name, const std::vector<int32_t>& values) {
    std::string bytes = raw(uint32_t{5}) + raw<uint64_t>(values.size());
    for (const int32_t value : values) bytes += raw(value);
    return key(name, 9, bytes);
  }

  // `dimensions` fastest first, as in the file; data goes to the next aligned place.
  GgufBuilder& tensor(const std::string& name, const std::vector<uint64_t>& dimensions, uint32_t type, const std::string& data) {
    data_.append((alignment - data_.size() % alignment) % alignment, '\0');
    return tensor_at(name, dimensions, type, data_.size(), data);
  }
  GgufBuilder& tensor_at(const std::string& name, const std::vector<uint64_t>& dimensions, uint32_t type, uint64_t offset,
                         const std::string& data) {
    std::string facts = text(name) + raw(static_cast<uint32_t>(dimensions.size()));
    for (const uint64_t size : dimensions) facts += raw(size);
    tensors_.push_back(facts + raw(type) + raw(offset));
    data_ += data;
    return *this;
  }
  GgufBuilder& floats(const std::string& name, const std::vector<uint64_t>& dimensions, const std::vector<float>& values) {
    std::string bytes;
    for (const float value : values) bytes += raw(value);
    return tensor(name, dimensions, 0, bytes);
  }

  std::string bytes() const {
    std::string file = "GGUF" + raw(version) + raw<uint64_t>(tensors_.size() + extra_tensors) + raw<uint64_t>(keys_.size() + extra_keys);
    for (const auto& key : keys_) file += key;
    for (const auto& tensor : tensors_) file += tensor;
    file.append((alignment - file.size() % alignment) % alignment, '\0');
    return file + data_;
  }

 private:
  std::vector<std::string> keys_, tensors_;
  std::string data_;
};

}  // namespace scantling::test
