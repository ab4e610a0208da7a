// Random numbers that depend on where they are used and on nothing else: value = f(seed, stream, index). There is no generator state
// to share, save or skip, so any rank can draw any element of a tensor and every layout draws the same values.
// Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace scantling {

using PhiloxBlock = std::array<uint32_t, 4>;

// Ten rounds of Philox 4x32.
PhiloxBlock philox(std::array<uint32_t, 2> key, PhiloxBlock counter);

// Uniform in [0, 1), a multiple of 2^-53.
double uniform(uint64_t seed, uint64_t stream, uint64_t index);

// Standard normal (Box-Muller in double precision, rounded once).
float normal(uint64_t seed, uint64_t stream, uint64_t index);

// values[i] = normal(seed, stream, first_index + i) * stddev.
void fill_normal(uint64_t seed, uint64_t stream, uint64_t first_index, std::span<float> values, float stddev);

// The stream of a parameter or call site: a hash of its name that never changes between releases or machines.
uint64_t stream_of(std::string_view name);

}  // namespace scantling
