// Known answers are those published with Random123 (kat_vectors, philox4x32 with 10 rounds).
#include "scantling/core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace scantling {
namespace {

TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0}, {0, 0, 0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones}, {ones, ones, ones, ones}), (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Uniform, LiesInRangeWithTheRightMoments) {
  double sum = 0;
  double squares = 0;
  const int count = 100000;
  for (uint64_t i = 0; i < count; ++i) {
    const double value = uniform(1, 2, i);
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / count, 0.5, 0.004);
  EXPECT_NEAR(squares / count, 1.0 / 3, 0.004);
}

TEST(Normal, HasTheRightMoments) {
  std::vector<float> values(200000);
  fill_normal(3, 4, 0, values, 2.0F);
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  for (const float value : values) {
    sum += value;
    squares += std::pow(value, 2);
    fourths += std::pow(value, 4);
  }
  const auto count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 0.0, 0.02);
  EXPECT_NEAR(squares / count, 4.0, 0.05);
  EXPECT_NEAR(fourths / count, 3 * 16.0, 1.5);
}

TEST(FillNormal, GivesTheSameValuesWhereverTheRangeBegins) {
  std::vector<float> whole(23);
  fill_normal(5, 6, 0, whole, 0.5F);
  for (size_t first = 0; first < whole.size(); ++first) {
    std::vector<float> part(whole.size() - first);
    fill_normal(5, 6, first, part, 0.5F);
    EXPECT_EQ(part, std::vector<float>(whole.begin() + static_cast<std::ptrdiff_t>(first), whole.end())) << first;
    EXPECT_EQ(whole[first], normal(5, 6, first) * 0.5F) << first;
  }
}

TEST(Random, SeedsAndStreamsAreDifferent) {
  EXPECT_NE(uniform(0, 0, 0), uniform(1, 0, 0));
  EXPECT_NE(uniform(0, 0, 0), uniform(0, 1, 0));
  EXPECT_NE(uniform(0, 0, 0), uniform(0, 0, 1));
  EXPECT_NE(uniform(0, 0, 0), uniform(uint64_t{1} << 32, 0, 0));
  EXPECT_NE(uniform(0, 0, 0), uniform(0, uint64_t{1} << 32, 0));
}

TEST(StreamOf, NeverChanges) {
  EXPECT_EQ(stream_of(""), 0xef46db3751d8e999U);  // published value of XXH64
  EXPECT_EQ(stream_of("a"), 0xd24ec4f1a98c6e5bU);
  EXPECT_NE(stream_of("model.layers.0"), stream_of("model.layers.1"));
}

}  // namespace
}  // namespace scantling
