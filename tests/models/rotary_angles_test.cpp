// Rotary frequencies against published numbers, and angles at positions.
#include "scantling/models/rotary_angles.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/nn/compare.h"

namespace scantling {
namespace {

RopeConfig llama3(double theta, double factor, int64_t original) {
  RopeConfig rope{RopeKind::llama3, theta, factor};
  rope.original_max_positions = original;
  return rope;
}

TEST(RotaryFrequencies, StandardIsAPowerOfTheBase) {
  const auto found = rotary_frequencies(RopeConfig{}, 8, 16);
  const std::vector<double> expected{1, 0.1, 0.01, 0.001};
  ASSERT_EQ(found.size(), 4u);
  for (size_t j = 0; j < 4; j++) EXPECT_NEAR(found[j], expected[j], 1e-15);
}

TEST(RotaryFrequencies, Llama3KeepsBlendsAndDivides) {
  const auto found = rotary_frequencies(llama3(10'000, 8, 64), 8, 16);
  const std::vector<double> expected{1, 0.013042256, 0.00125, 0.000125};
  for (size_t j = 0; j < 4; j++) EXPECT_NEAR(found[j], expected[j], 1e-6 * expected[j]) << "pair " << j;
}

TEST(RotaryFrequencies, Llama3OfAPublishedModel) {
  const auto found = rotary_frequencies(llama3(500'000, 32, 8192), 64, 16);
  for (size_t j = 0; j < 32; j++) {
    const double plain = std::pow(500'000.0, -2.0 * static_cast<double>(j) / 64);
    if (j <= 14)
      EXPECT_DOUBLE_EQ(found[j], plain) << "pair " << j;
    else if (j >= 18)
      EXPECT_DOUBLE_EQ(found[j], plain / 32) << "pair " << j;
    else
      EXPECT_TRUE(found[j] < plain && found[j] > plain / 32) << "pair " << j << ": " << found[j];
  }
}

TEST(RotaryAngles, LinearScalingDividesThePosition) {
  const RopeConfig rope{RopeKind::linear, 10'000, 2};
  const auto [cos, sin] = rotary_angles(rope, 8, test::whole_numbers({1, 2}, {7, 0}));
  EXPECT_FLOAT_EQ(cos[0][0][0].item<float>(), std::cos(3.5f));
  EXPECT_FLOAT_EQ(sin[0][0][0].item<float>(), std::sin(3.5f));
  EXPECT_EQ(cos[0][1][3].item<float>(), 1);
  EXPECT_EQ(sin[0][1][3].item<float>(), 0);
}

TEST(RotaryAngles, DynamicScalingBeginsBeyondTheTrainedLength) {
  RopeConfig rope{RopeKind::dynamic, 10'000, 2};
  rope.original_max_positions = 16;
  EXPECT_EQ(rotary_frequencies(rope, 8, 16), rotary_frequencies(RopeConfig{}, 8, 16));
  EXPECT_NEAR(rotary_frequencies(rope, 8, 32)[1], std::pow(10'000 * std::pow(3.0, 8.0 / 6), -0.25), 1e-12);
}

TEST(RotaryAngles, LongPositionsAreExact) {
  const auto [cos, sin] = rotary_angles(RopeConfig{}, 8, test::whole_numbers({1, 1}, {131'071}));
  EXPECT_FLOAT_EQ(cos[0][0][0].item<float>(), static_cast<float>(std::cos(131'071.0)));
  EXPECT_FLOAT_EQ(sin[0][0][1].item<float>(), static_cast<float>(std::sin(13'107.1)));
}

}  // namespace
}  // namespace scantling
