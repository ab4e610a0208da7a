#include "scantling/optim/gradient_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace scantling {
namespace {

std::vector<float> normals(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 1e-3F);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

TEST(GradientNorm, ShardsGiveTheBitsOfTheWhole) {
  std::mt19937 random(2);
  for (const int64_t row : {1, 3, 15, 16, 17, 100, 4096, 4100, 9000}) {
    const int64_t rows = 23;
    const std::vector<float> gradient = normals(rows * row, static_cast<unsigned>(row));
    ExactSum whole, shards;
    add_squares(gradient.data(), 0, rows * row, row, whole);
    const int64_t cut = static_cast<int64_t>(random() % 24) * row;
    add_squares(gradient.data() + cut, cut, rows * row - cut, row, shards);
    ExactSum other;
    add_squares(gradient.data(), 0, cut, row, other);
    shards.merge(other);
    EXPECT_EQ(whole.value(), shards.value()) << "rows of " << row << " cut at " << cut;
  }
}

TEST(GradientNorm, AgreesWithALongDoubleSum) {
  const int64_t count = 3 * 4999;
  const std::vector<float> gradient = normals(count, 9);
  long double expected = 0;
  for (const float value : gradient) expected += static_cast<long double>(value) * static_cast<long double>(value);
  ExactSum sum;
  add_squares(gradient.data(), 0, count, 4999, sum);
  EXPECT_NEAR(sum.value() / static_cast<double>(expected), 1, 1e-14);
}

TEST(GradientNorm, SmallAndLargeGradientsAreExact) {
  const std::vector<float> gradient = {3e38F, -3e38F, 1e-30F, 0, 3, 4};
  ExactSum large, small;
  add_squares(gradient.data(), 0, 2, 2, large);
  EXPECT_EQ(large.value(), 2 * static_cast<double>(3e38F) * static_cast<double>(3e38F));
  add_squares(gradient.data() + 3, 3, 3, 3, small);
  EXPECT_EQ(std::sqrt(small.value()), 5);
}

TEST(GradientNorm, NonFiniteGradientsShow) {
  for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::nanf("")}) {
    std::vector<float> gradient(50, 1);
    gradient[49] = bad;
    ExactSum sum;
    add_squares(gradient.data(), 0, 50, 25, sum);
    EXPECT_FALSE(std::isfinite(sum.value())) << bad;
  }
}

TEST(GradientNorm, RangesMustLieBetweenRows) {
  const std::vector<float> gradient(12, 1);
  ExactSum sum;
  EXPECT_THROW(add_squares(gradient.data(), 2, 4, 4, sum), std::logic_error);
  EXPECT_THROW(add_squares(gradient.data(), 4, 5, 4, sum), std::logic_error);
  add_squares(nullptr, 0, 0, 4, sum);
  EXPECT_EQ(sum.value(), 0);
}

TEST(GradientNorm, ClipFactorNeverEnlarges) {
  EXPECT_EQ(clip_factor(0.5, 1), 1);
  EXPECT_EQ(clip_factor(0, 1), 1);
  EXPECT_EQ(clip_factor(4, 1), static_cast<float>(1 / (4 + 1e-6)));
  EXPECT_EQ(clip_factor(1e9, 0), 1);
}

}  // namespace
}  // namespace scantling
