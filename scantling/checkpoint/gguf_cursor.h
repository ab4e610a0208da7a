// Walks the bytes of a GGUF file front to back. It is the only place that turns claimed lengths into positions, and it refuses each one
// that reaches beyond the end, so the rest of the reader can take what it gets.
#pragma once

#include <cstring>
#include <string>

#include "scantling/checkpoint/gguf.h"

namespace scantling {

class GgufCursor {
 public:
  GgufCursor(std::string_view path, std::span<const std::byte> bytes) : path_(path), bytes_(bytes) {}

  int64_t position() const { return position_; }
  void within(std::string place) { place_ = std::move(place); }  // put before the facts of messages: "tensor "x": "

  // Throws CheckpointError "path: place fact. rule. remedy".
  [[noreturn]] void fail(std::string_view fact, std::string_view rule) const;

  template <typename T>
  T number(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }
  int64_t length(std::string_view what);  // a 64-bit length or count; below 2^63
  std::string_view string(std::string_view what);
  GgufValue entry();  // key, kind and value

 private:
  std::span<const std::byte> take(int64_t count, std::string_view what);

  std::string_view path_;
  std::string place_;
  std::span<const std::byte> bytes_;
  int64_t position_ = 0;
};

int64_t bytes_of(GgufKind kind);  // of one element; 0 for strings and arrays

}  // namespace scantling
