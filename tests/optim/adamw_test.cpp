#include "scantling/optim/adamw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "scantling/core/dtype.h"

namespace scantling {
namespace {

struct State {
  std::vector<float> weight, m, v, gradient;
  std::vector<uint16_t> copy;

  explicit State(size_t count, unsigned seed = 1) : weight(count), m(count), v(count), gradient(count), copy(count) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < count; ++i) {
      weight[i] = normal(random);
      gradient[i] = normal(random);
    }
  }

  void update(const AdamWStep& step, size_t begin, size_t end) {
    adamw_update(weight.data() + begin, m.data() + begin, v.data() + begin, gradient.data() + begin, static_cast<int64_t>(end - begin),
                 step, copy.data() + begin);
  }
};

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

OptimizerOptions options(double decay) { return {.weight_decay = decay}; }

// The formulas in double, one element.
struct Reference {
  double weight, m = 0, v = 0;
  void update(double g, double rate, double decay, int step) {
    weight *= 1 - rate * decay;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    weight -= rate / (1 - std::pow(0.9, step)) * m / (std::sqrt(v) / std::sqrt(1 - std::pow(0.999, step)) + 1e-8);
  }
};

TEST(AdamW, FollowsDoubleReferenceOverTenSteps) {
  State state(1037);
  std::vector<Reference> reference;
  for (const float weight : state.weight) reference.push_back({.weight = weight});
  for (int step = 1; step <= 10; ++step) {
    const float scale = 1.0F / static_cast<float>(step);
    state.update(adamw_step(options(0.1), 1e-2, step, true, scale), 0, state.weight.size());
    for (size_t i = 0; i < reference.size(); ++i) reference[i].update(double{state.gradient[i]} * scale, 1e-2, 0.1, step);
  }
  for (size_t i = 0; i < reference.size(); ++i) {
    ASSERT_NEAR(state.weight[i], reference[i].weight, 2e-6 * std::max(1.0, std::fabs(reference[i].weight))) << "element " << i;
    ASSERT_NEAR(state.m[i], reference[i].m, 1e-6) << "element " << i;
    ASSERT_NEAR(state.v[i], reference[i].v, 1e-6 * std::max(1.0, reference[i].v)) << "element " << i;
  }
}

TEST(AdamW, FirstStepMovesByTheLearningRate) {
  State state(3);
  state.weight = {1, 1, 1};
  state.gradient = {5, -0.25, 0};
  state.update(adamw_step(options(0), 0.125, 1, true, 1), 0, 3);
  EXPECT_FLOAT_EQ(state.weight[0], 0.875F);
  EXPECT_FLOAT_EQ(state.weight[1], 1.125F);
  EXPECT_EQ(state.weight[2], 1.0F);
}

TEST(AdamW, ZeroGradientOnlyDecaysMatrices) {
  State state(40);
  state.gradient.assign(40, 0);
  state.weight[7] = -0.0F;
  State vector = state;
  const std::vector<float> before = state.weight;
  state.update(adamw_step(options(0.1), 0.1, 1, true, 1), 0, 40);
  vector.update(adamw_step(options(0.1), 0.1, 1, false, 1), 0, 40);
  EXPECT_TRUE(same_bits(vector.weight, before));
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(state.weight[i], before[i] * 0.99F) << "element " << i;
}

TEST(AdamW, CutsOfARangeDoNotChangeBits) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const size_t count = random() % 3000;
    const size_t cut = count == 0 ? 0 : random() % (count + 1);
    State whole(count, static_cast<unsigned>(round));
    State parts = whole;
    for (int step = 1; step <= 3; ++step) {
      const AdamWStep scalars = adamw_step(options(0.01), 1e-3, step, true, 0.37F);
      whole.update(scalars, 0, count);
      parts.update(scalars, 0, cut);
      parts.update(scalars, cut, count);
    }
    ASSERT_TRUE(same_bits(whole.weight, parts.weight)) << count << " elements cut at " << cut;
    ASSERT_TRUE(same_bits(whole.m, parts.m)) << count << " elements cut at " << cut;
    ASSERT_TRUE(same_bits(whole.v, parts.v)) << count << " elements cut at " << cut;
    ASSERT_TRUE(same_bits(whole.copy, parts.copy)) << count << " elements cut at " << cut;
  }
}

TEST(AdamW, EveryOperationIsRoundedByItself) {
  State state(64);
  state.m = State(64, 2).weight;
  state.v = State(64, 3).weight;
  for (float& v : state.v) v *= v;
  const State before = state;
  const AdamWStep step = adamw_step(options(0.1), 0.3, 1, true, 0.7F);
  state.update(step, 0, 64);
  for (size_t i = 0; i < 64; ++i) {
    const volatile float g = before.gradient[i] * 0.7F;
    const volatile float m_kept = 0.9F * before.m[i], m_added = static_cast<float>(1 - 0.9) * g;
    const volatile float v_kept = 0.999F * before.v[i], v_scaled = static_cast<float>(1 - 0.999) * g, v_added = v_scaled * g;
    const volatile float m = m_kept + m_added, v = v_kept + v_added;
    const volatile float root = std::sqrt(v), corrected = root / static_cast<float>(step.bias_correction2_sqrt);
    const volatile float denominator = corrected + 1e-8F;
    const volatile float kept = before.weight[i] * static_cast<float>(1 - 0.3 * 0.1);
    const volatile float moved = static_cast<float>(0.3 / step.bias_correction1) * m, change = moved / denominator;
    ASSERT_EQ(state.m[i], m) << "element " << i << ": products are fused into sums; build with -ffp-contract=off";
    ASSERT_EQ(state.v[i], v) << "element " << i << ": products are fused into sums; build with -ffp-contract=off";
    ASSERT_EQ(state.weight[i], kept - change) << "element " << i << ": products are fused into sums; build with -ffp-contract=off";
  }
}

TEST(AdamW, CopyIsTheRoundedWeight) {
  State state(2050);
  state.gradient[3] = std::numeric_limits<float>::quiet_NaN();
  state.update(adamw_step(options(0), 1e-3, 1, true, 1), 0, 2050);
  for (size_t i = 0; i < 2050; ++i) ASSERT_EQ(state.copy[i], float_to_bfloat16(state.weight[i])) << "element " << i;
  EXPECT_TRUE(std::isnan(bfloat16_to_float(state.copy[3])));
}

TEST(AdamW, EmptyRangeAndNoCopyAreFine) {
  const AdamWStep step = adamw_step(options(0), 1e-3, 1, true, 1);
  adamw_update(nullptr, nullptr, nullptr, nullptr, 0, step);
  float weight = 1, m = 0, v = 0, gradient = 1;
  adamw_update(&weight, &m, &v, &gradient, 1, step);
  EXPECT_FLOAT_EQ(weight, 0.999F);
  EXPECT_THROW(adamw_step(options(0), 1e-3, 0, true, 1), std::logic_error);
}

}  // namespace
}  // namespace scantling
