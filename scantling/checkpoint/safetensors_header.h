// The safetensors header: eight bytes of length, then a JSON object that names every tensor's type, shape and byte range.
// The rules are Hugging Face's: ranges lie in the data section, fit shape and type, do not overlap and leave no hole, so that
// every byte of a file belongs to exactly one tensor. What breaks a rule is refused before any tensor is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "scantling/core/dtype.h"

namespace scantling {

struct TensorInfo {
  std::string name;
  DType dtype = DType::float32;
  std::vector<int64_t> shape;
  int64_t begin_byte = 0;  // within the data section
  int64_t end_byte = 0;

  int64_t bytes() const { return end_byte - begin_byte; }
  int64_t elements() const { return bytes() / size_of(dtype); }
};

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;              // ordered by place in the file
  std::map<std::string, std::string> metadata;  // empty if the file has none
  int64_t data_begin = 0;                       // file offset of the data section
};

constexpr int64_t max_safetensors_header_bytes = 100'000'000;

// Parses and validates the header at the front of a file of `file_bytes` bytes; only the header's bytes of `front` are looked at.
// `path` is for messages. Throws CheckpointError that names file and field.
SafetensorsHeader parse_safetensors_header(const std::string& path, std::span<const std::byte> front, int64_t file_bytes);

// The first bytes of a file: length and header, padded with spaces to a multiple of eight. Keys are in the given order.
// The byte ranges of `header.tensors` must be filled in.
std::string format_safetensors_header(const SafetensorsHeader& header);

// Product of `shape`, or -1 if a size is negative or the product overflows 64 bits.
int64_t count_elements(std::span<const int64_t> shape);

}  // namespace scantling
