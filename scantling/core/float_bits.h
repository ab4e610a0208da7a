// Conversions of single floating elements, inline so that loops over them vectorise: selects on bits, no branches, no dependence on
// rounding or flush-to-zero modes. Narrowing rounds to nearest even; NaN stays NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace scantling {

// condition ? a : b, in a form that compilers do not turn back into a branch.
inline uint32_t select_bits(bool condition, uint32_t a, uint32_t b) {
  const uint32_t mask = 0U - static_cast<uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

inline float bfloat16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

inline uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40U;
  return static_cast<uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
}

inline float float16_to_float(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000U) << 16;
  const uint32_t rest = bits & 0x7fffU;
  const auto subnormal = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(rest)) * 0x1p-24F);
  const uint32_t normal = (rest << 13) + (112U << 23);
  const uint32_t special = (rest << 13) | 0x7f800000U;
  const uint32_t magnitude = select_bits(rest < 0x400U, subnormal, select_bits(rest >= 0x7c00U, special, normal));
  return std::bit_cast<float>(magnitude | sign);
}

inline uint16_t float_to_float16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t rest = bits & 0x7fffffffU;
  const uint32_t normal = (rest + 0xfffU + ((rest >> 13) & 1U) - (112U << 23)) >> 13;
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(rest) + 0.5F) - 0x3f000000U;  // the sum rounds at 2^-24
  const uint32_t nan = 0x7e00U | ((rest >> 13) & 0x3ffU);
  const uint32_t finite = select_bits(rest < 0x38800000U, subnormal, select_bits(rest >= 0x477ff000U, 0x7c00U, normal));
  return static_cast<uint16_t>(select_bits(rest > 0x7f800000U, nan, finite) | sign);
}

inline float float8_e4m3_to_float(uint8_t bits) {
  const uint32_t sign = (bits & 0x80U) << 24;
  const uint32_t rest = bits & 0x7fU;
  const auto subnormal = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(rest)) * 0x1p-9F);
  const uint32_t normal = (rest << 20) + (120U << 23);
  const uint32_t magnitude = rest < 8U ? subnormal : (rest == 0x7fU ? 0x7fc00000U : normal);
  return std::bit_cast<float>(magnitude | sign);
}

inline float float8_e5m2_to_float(uint8_t bits) { return float16_to_float(static_cast<uint16_t>(bits << 8)); }

}  // namespace scantling
