#include "scantling/optim/sgd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "scantling/core/dtype.h"

namespace scantling {
namespace {

TEST(Sgd, MasterWeightsKeepUpdatesThatBfloat16WouldLose) {
  float weight = 1;
  const float gradient = 1;
  uint16_t copy = 0;
  for (int step = 0; step < 10; ++step) sgd_update(&weight, nullptr, &gradient, 1, {.learning_rate = 1e-3}, &copy);
  EXPECT_NEAR(weight, 0.9900001F, 5e-8);
  EXPECT_EQ(bfloat16_to_float(copy), 0.98828125F);
}

TEST(Sgd, MomentumAndDecayFollowTheDefinition) {
  std::vector<float> weight(37, 2), buffer(37, 0), gradient(37, 0.5);
  double expected = 2, expected_buffer = 0;
  for (int step = 0; step < 5; ++step) {
    sgd_update(weight.data(), buffer.data(), gradient.data(), 37,
               {.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01, .gradient_scale = 0.5F});
    expected_buffer = 0.9 * expected_buffer + 0.25 + 0.01 * expected;
    expected -= 0.1 * expected_buffer;
  }
  for (size_t i = 0; i < 37; ++i) EXPECT_NEAR(weight[i], expected, 1e-6) << "element " << i;
  EXPECT_NEAR(buffer[0], expected_buffer, 1e-6);
}

TEST(Sgd, CutsOfARangeDoNotChangeBits) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (int round = 0; round < 30; ++round) {
    const auto count = static_cast<int64_t>(1 + random() % 2500);
    const auto cut = static_cast<int64_t>(random() % static_cast<unsigned>(count + 1));
    std::vector<float> weight(static_cast<size_t>(count)), buffer(weight.size()), gradient(weight.size());
    for (float& value : weight) value = normal(random);
    for (float& value : gradient) value = normal(random);
    std::vector<float> parts = weight, parts_buffer = buffer;
    const SgdStep step{.learning_rate = 0.01, .momentum = 0.9, .weight_decay = 0.1, .gradient_scale = 0.3F};
    sgd_update(weight.data(), buffer.data(), gradient.data(), count, step);
    sgd_update(parts.data(), parts_buffer.data(), gradient.data(), cut, step);
    sgd_update(parts.data() + cut, parts_buffer.data() + cut, gradient.data() + cut, count - cut, step);
    ASSERT_EQ(weight, parts) << count << " elements cut at " << cut;
    ASSERT_EQ(buffer, parts_buffer) << count << " elements cut at " << cut;
  }
}

TEST(Sgd, MomentumNeedsItsBuffer) {
  float weight = 1;
  const float gradient = 1;
  EXPECT_THROW(sgd_update(&weight, nullptr, &gradient, 1, {.learning_rate = 1, .momentum = 0.9}), std::logic_error);
  EXPECT_NO_THROW(sgd_update(nullptr, nullptr, nullptr, 0, {.learning_rate = 1, .momentum = 0.9}));
}

}  // namespace
}  // namespace scantling
