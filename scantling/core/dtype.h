// Element types as files and devices know them. Torch-free: nn/tensor_types.h maps them to LibTorch's.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "scantling/core/float_bits.h"  // bfloat16_to_float and the like

namespace scantling {

enum class DType : uint8_t {
  float32,
  float64,
  bfloat16,
  float16,
  float8_e4m3,
  float8_e5m2,
  int64,
  int32,
  int16,
  int8,
  uint64,
  uint32,
  uint16,
  uint8,
  boolean
};

int64_t size_of(DType dtype);                                   // bytes of one element
std::string_view name_of(DType dtype);                          // "float32", as in run files
std::string_view safetensors_name_of(DType dtype);              // "F32", as in safetensors headers
std::optional<DType> dtype_named(std::string_view name);        // accepts name_of's names
std::optional<DType> safetensors_dtype(std::string_view name);  // accepts safetensors_name_of's names
bool is_floating(DType dtype);

// Converts `count` floating elements from one type to another. Supports every floating type as source and
// float32, bfloat16, float16 as target; equal types are copied. Buffers must not overlap unless they are the same.
void convert(const void* from, DType from_type, void* to, DType to_type, int64_t count);

}  // namespace scantling
