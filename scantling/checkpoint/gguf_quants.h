// The element types of GGUF files: how many elements a block holds, how many bytes it takes, and its values as float32.
// The formulas are those of ggml (ggml-quants.c, dequantize_row_*). Every product in them fits into the 24 bits of a float32 (an 11-bit
// scale times at most 13 bits), so each value is rounded at most once and equals ggml's bit for bit, fused multiply-add or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace scantling {

struct GgufType {
  uint32_t id;            // as in the file
  std::string_view name;  // "Q4_1"
  int64_t block_elements;
  int64_t block_bytes;
  void (*dequantize)(const std::byte* from, int64_t blocks, float* out);  // null: known by name and size only
};

const GgufType* gguf_type(uint32_t id);  // null if unknown
std::string dequantizable_gguf_types();  // "F32, F16, ...", for messages

}  // namespace scantling
