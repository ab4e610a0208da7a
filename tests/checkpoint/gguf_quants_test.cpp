// Block formats: hand-packed blocks give back what was packed, and pseudo-random blocks give the values of an independent reader.
#include "scantling/checkpoint/gguf_quants.h"

#include <map>

#include "scantling/core/dtype.h"
#include "tests/checkpoint/test_files.h"

namespace scantling {
namespace {

using test::raw;

std::vector<float> values_of(uint32_t id, const std::string& bytes) {
  const GgufType* type = gguf_type(id);
  const int64_t blocks = static_cast<int64_t>(bytes.size()) / type->block_bytes;
  std::vector<float> values(static_cast<size_t>(blocks * type->block_elements));
  type->dequantize(reinterpret_cast<const std::byte*>(bytes.data()), blocks, values.data());
  return values;
}

std::string half(float value) { return raw(float_to_float16(value)); }

int wanted(int element, int modulus) { return (element * 7 + 3) % modulus; }

// 32 values of 4 bits: 0-15 in the low nibbles, 16-31 in the high ones.
std::string nibbles(int modulus) {
  std::string bytes;
  for (int i = 0; i < 16; ++i) bytes += static_cast<char>((wanted(i, modulus) & 15) | (wanted(i + 16, modulus) & 15) << 4);
  return bytes;
}

std::string fifth_bits() {
  uint32_t bits = 0;
  for (int i = 0; i < 32; ++i) bits |= static_cast<uint32_t>(wanted(i, 32) >> 4) << i;
  return raw(bits);
}

void expect_block(uint32_t id, const std::string& bytes, int modulus, float scale, float minimum, int offset) {
  const auto values = values_of(id, bytes);
  ASSERT_EQ(values.size(), 32U);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(values[static_cast<size_t>(i)], static_cast<float>(wanted(i, modulus) - offset) * scale + minimum) << "element " << i;
}

TEST(GgufQuants, BlocksOfThirtyTwoGiveBackWhatWasPacked) {
  expect_block(2, half(0.25F) + nibbles(16), 16, 0.25F, 0, 8);
  expect_block(3, half(0.25F) + half(-3.5F) + nibbles(16), 16, 0.25F, -3.5F, 0);
  expect_block(6, half(0.5F) + fifth_bits() + nibbles(32), 32, 0.5F, 0, 16);
  expect_block(7, half(0.5F) + half(2.0F) + fifth_bits() + nibbles(32), 32, 0.5F, 2.0F, 0);
  std::string bytes = half(0.125F);
  for (int i = 0; i < 32; ++i) bytes += static_cast<char>(wanted(i, 256) - 128);
  expect_block(8, bytes, 256, 0.125F, 0, 128);
}

TEST(GgufQuants, PlainTypesAreTheirValues) {
  EXPECT_EQ(values_of(0, raw(1.5F) + raw(-2.0F)), (std::vector<float>{1.5F, -2.0F}));
  EXPECT_EQ(values_of(1, half(1.5F)), std::vector<float>{1.5F});
  EXPECT_EQ(values_of(30, raw(float_to_bfloat16(-3.0F))), std::vector<float>{-3.0F});
}

// Scales 1-8 and minima 60-53: some need more than four bits, so their top bits stand apart.
TEST(GgufQuants, Q4KGroupsHaveTheirOwnScaleAndMinimum) {
  const auto scale = [](int group) { return 1 + group * 8; };
  const auto minimum = [](int group) { return 60 - group; };
  std::string bytes = half(0.5F) + half(0.25F);
  for (int g = 0; g < 4; ++g) bytes += static_cast<char>(scale(g) | scale(g + 4) >> 4 << 6);
  for (int g = 0; g < 4; ++g) bytes += static_cast<char>(minimum(g) | minimum(g + 4) >> 4 << 6);
  for (int g = 4; g < 8; ++g) bytes += static_cast<char>((scale(g) & 15) | (minimum(g) & 15) << 4);
  for (int pair = 0; pair < 4; ++pair) {
    for (int i = 0; i < 32; ++i) bytes += static_cast<char>(wanted(pair * 64 + i, 16) | wanted(pair * 64 + 32 + i, 16) << 4);
  }
  const auto values = values_of(12, bytes);
  ASSERT_EQ(values.size(), 256U);
  for (int i = 0; i < 256; ++i) {
    const int group = i / 32;
    EXPECT_EQ(values[static_cast<size_t>(i)],
              0.5F * static_cast<float>(scale(group) * wanted(i, 16)) - 0.25F * static_cast<float>(minimum(group)))
        << "element " << i;
  }
}

TEST(GgufQuants, Q6KCombinesLowAndHighBits) {
  std::string low(128, '\0'), high(64, '\0'), scales;
  for (int i = 0; i < 256; ++i) {
    const int q = wanted(i, 64);
    const size_t half_block = static_cast<size_t>(i / 128), row = static_cast<size_t>(i % 128 / 32), column = static_cast<size_t>(i % 32);
    low[half_block * 64 + (row % 2) * 32 + column] |= static_cast<char>((q & 15) << (row < 2 ? 0 : 4));
    high[half_block * 32 + column] |= static_cast<char>((q >> 4) << (2 * row));
  }
  for (int group = 0; group < 16; ++group) scales += static_cast<char>(group * 5 - 40);
  const auto values = values_of(14, low + high + scales + half(0.5F));
  ASSERT_EQ(values.size(), 256U);
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(values[static_cast<size_t>(i)], 0.5F * static_cast<float>(i / 16 * 5 - 40) * static_cast<float>(wanted(i, 64) - 32))
        << "element " << i;
  }
}

// Numbers from the numpy reader of the Python package gguf 0.19.0: two blocks of bytes from a linear congruence, the fixed halves put in
// place of d and the minimum; `weighted` is the sum of (i + 1) * value[i] in float64, which is exact.
TEST(GgufQuants, PseudoRandomBlocksEqualAnIndependentReader) {
  const struct {
    uint32_t id;
    std::vector<size_t> halves;
    float first, second, last_of_block;
    double weighted;
  } cases[] = {{2, {0}, 0.2999267578125F, -0.599853515625F, 0.6998291015625F, -27.793212890625},
               {3, {0, 2}, 0.499755859375F, 0.899658203125F, 1.1995849609375F, 830.8431396484375},
               {6, {0}, 1.399658203125F, 1.19970703125F, -0.599853515625F, -177.356689453125},
               {7, {0, 2}, 0.499755859375F, 0.499755859375F, 1.9993896484375F, 2604.110107421875},
               {8, {0}, -11.6971435546875F, -9.397705078125F, 7.398193359375F, 330.0194091796875},
               {12, {0, 2}, 27.1962890625F, 27.1962890625F, 33.896484375F, 4098742.866333008},
               {13, {0, 2}, 91.1806640625F, 107.1767578125F, 81.9847412109375F, 7009615.584472656},
               {14, {208}, 170.0584716796875F, 161.96044921875F, 78.380859375F, -1557530.8505859375}};
  for (const auto& each : cases) {
    const GgufType* type = gguf_type(each.id);
    std::string bytes;
    for (uint32_t state = 12345; bytes.size() < 2 * static_cast<size_t>(type->block_bytes);)
      bytes += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    for (size_t block = 0; block < 2; ++block) {
      for (size_t i = 0; i < each.halves.size(); ++i)
        bytes.replace(block * static_cast<size_t>(type->block_bytes) + each.halves[i], 2, raw(uint16_t(i == 0 ? 0x2E66 : 0xB4CD)));
    }
    const auto values = values_of(each.id, bytes);
    double weighted = 0;
    for (size_t i = 0; i < values.size(); ++i) weighted += static_cast<double>(i + 1) * static_cast<double>(values[i]);
    EXPECT_EQ(values[0], each.first) << type->name;
    EXPECT_EQ(values[1], each.second) << type->name;
    EXPECT_EQ(values[values.size() / 2 - 1], each.last_of_block) << type->name;
    EXPECT_EQ(weighted, each.weighted) << type->name;
  }
}

TEST(GgufQuants, UnknownTypesAreNone) {
  EXPECT_EQ(gguf_type(4), nullptr);
  EXPECT_EQ(gguf_type(1000), nullptr);
  EXPECT_EQ(gguf_type(10)->dequantize, nullptr);
  EXPECT_EQ(dequantizable_gguf_types(), "F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K, BF16");
}

}  // namespace
}  // namespace scantling
