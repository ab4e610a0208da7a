// What the vector loops share: element access for float32 and bfloat16, and an exponential that vectorises.
#pragma once

#include <bit>
#include <cstdint>

#include "scantling/core/vectorized.h"

#define SCANTLING_INLINE inline __attribute__((always_inline))

namespace scantling::kernels {

struct bf16 {
  uint16_t bits;
};

SCANTLING_INLINE float load(float value) { return value; }
SCANTLING_INLINE float load(bf16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }
SCANTLING_INLINE void store(float& to, float value) { to = value; }
SCANTLING_INLINE void store(bf16& to, float value) {  // round to nearest even; NaN stays NaN
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  to.bits = static_cast<uint16_t>(value != value ? 0x7fc0u : rounded);
}

// exp(x) to 2 ulp for x in [-87, 88]; smaller arguments give 0 within 1e-38. Range reduction by powers of two and a degree-6
// polynomial (coefficients: Cephes expf, S. Moshier).
SCANTLING_INLINE float exponential(float x) {
  x = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;
  const float shifted = x * 1.44269504088896341f + 12582912.0f;  // rounds to an integer in the low mantissa bits
  const float n = shifted - 12582912.0f;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const auto power = std::bit_cast<uint32_t>(shifted) << 23;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(p) + power);
}

}  // namespace scantling::kernels
