// A block of Philox gives four words: two uniform doubles, or four normals as two Box-Muller pairs. The counter is (block, stream) and
// the key is the seed, so streams never overlap.
#include "scantling/core/random.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace scantling {
namespace {

constexpr uint64_t values_per_block = 4;

PhiloxBlock block_of(uint64_t seed, uint64_t stream, uint64_t block) {
  const auto low = [](uint64_t value) { return static_cast<uint32_t>(value); };
  const auto high = [](uint64_t value) { return static_cast<uint32_t>(value >> 32); };
  return philox({low(seed), high(seed)}, {low(block), high(block), low(stream), high(stream)});
}

std::array<float, 4> normals_of(uint64_t seed, uint64_t stream, uint64_t block) {
  const PhiloxBlock words = block_of(seed, stream, block);
  std::array<float, 4> normals;
  for (size_t pair = 0; pair < 2; ++pair) {
    const double above_zero = (static_cast<double>(words[2 * pair]) + 0.5) * 0x1p-32;
    const double angle = 2 * std::numbers::pi * (static_cast<double>(words[2 * pair + 1]) * 0x1p-32);
    const double radius = std::sqrt(-2 * std::log(above_zero));
    normals[2 * pair] = static_cast<float>(radius * std::cos(angle));
    normals[2 * pair + 1] = static_cast<float>(radius * std::sin(angle));
  }
  return normals;
}

}  // namespace

PhiloxBlock philox(std::array<uint32_t, 2> key, PhiloxBlock counter) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * counter[0];
    const uint64_t second = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

double uniform(uint64_t seed, uint64_t stream, uint64_t index) {
  const PhiloxBlock words = block_of(seed, stream, index / 2);
  const size_t first = (index % 2) * 2;
  const uint64_t bits = (uint64_t{words[first]} << 32) | words[first + 1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

float normal(uint64_t seed, uint64_t stream, uint64_t index) {
  return normals_of(seed, stream, index / values_per_block)[index % values_per_block];
}

void fill_normal(uint64_t seed, uint64_t stream, uint64_t first_index, std::span<float> values, float stddev) {
  for (size_t done = 0; done < values.size();) {
    const uint64_t index = first_index + done;
    const auto normals = normals_of(seed, stream, index / values_per_block);
    for (size_t place = index % values_per_block; place < values_per_block && done < values.size(); ++place, ++done) {
      values[done] = normals[place] * stddev;
    }
  }
}

uint64_t stream_of(std::string_view name) { return XXH64(name.data(), name.size(), 0); }

}  // namespace scantling
