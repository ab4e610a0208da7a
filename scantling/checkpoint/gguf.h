// Reads GGUF files (versions 2 and 3, little-endian), the format of llama.cpp. The file is mapped and walked once; keys, values and tensor
// facts are views of the mapping, so nothing is allocated by a length the file claims: every count is held against the bytes left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scantling/checkpoint/gguf_quants.h"
#include "scantling/checkpoint/input_file.h"

namespace scantling {

enum class GgufKind : uint32_t { uint8, int8, uint16, int16, uint32, int32, float32, boolean, string, array, uint64, int64, float64 };

// One metadata value: a view of the file's bytes. Accessors throw CheckpointError naming the key if the kind is another.
struct GgufValue {
  std::string_view path, key;  // for messages
  GgufKind kind;               // of the elements, if it is an array
  bool is_array = false;
  int64_t count = 1;
  std::span<const std::byte> bytes;

  bool as_bool() const;
  int64_t as_integer() const;  // any whole-number kind that fits
  double as_number() const;    // any whole or floating kind
  std::string_view as_string() const;
  std::vector<int64_t> as_integers() const;
  std::vector<double> as_numbers() const;
  std::vector<std::string_view> as_strings() const;
};

std::string_view name_of(GgufKind kind);

struct GgufTensor {
  std::string_view name;
  const GgufType* type;
  std::vector<int64_t> shape;        // [out, in]: the file lists the fastest dimension first, here it is last
  std::span<const std::byte> bytes;  // whole blocks, in rows of shape.back() elements

  int64_t elements() const { return static_cast<int64_t>(bytes.size()) / type->block_bytes * type->block_elements; }
};

class GgufFile {
 public:
  // Opens and validates. Throws CheckpointError that names file and field.
  explicit GgufFile(std::string path);

  const std::string& path() const { return file_.path(); }
  int64_t file_bytes() const { return file_.size(); }
  uint32_t version() const { return version_; }
  const std::map<std::string_view, GgufValue>& metadata() const { return metadata_; }
  const GgufValue* find(std::string_view key) const;  // null if there is none
  const GgufValue& at(std::string_view key) const;    // CheckpointError if there is none
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  const GgufTensor* tensor(std::string_view name) const;  // null if there is none

 private:
  InputFile file_;
  uint32_t version_ = 0;
  std::map<std::string_view, GgufValue> metadata_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string_view, size_t> index_;
};

// Rows [begin_row, begin_row + rows) of a tensor as float32, shape.back() values each. Throws CheckpointError naming `path`, tensor and
// type if the type cannot be dequantised.
void dequantize_rows(std::string_view path, const GgufTensor& tensor, int64_t begin_row, int64_t rows, float* out);

}  // namespace scantling
