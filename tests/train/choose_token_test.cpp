// Picking a token: greedy, by temperature, and cut to the most likely.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "scantling/core/error.h"
#include "scantling/train/generator.h"

namespace scantling {
namespace {

const std::vector<float> logits{1.0f, 3.0f, 3.0f, -2.0f, 2.0f};

std::set<int32_t> reached(const GenerateOptions& options) {
  std::set<int32_t> ids;
  for (int i = 0; i < 1000; i++) ids.insert(choose_token(logits, options, i / 1000.0));
  return ids;
}

TEST(ChooseToken, GreedyTakesTheFirstOfTheLargest) {
  for (const double draw : {0.0, 0.5, 0.999}) EXPECT_EQ(choose_token(logits, {}, draw), 1);
}

TEST(ChooseToken, TemperatureReachesEveryToken) {
  GenerateOptions options;
  options.temperature = 2;
  EXPECT_EQ(reached(options).size(), 5u);
}

TEST(ChooseToken, FrequenciesAreTheSoftmax) {
  GenerateOptions options;
  options.temperature = 1;
  int first = 0;
  for (int i = 0; i < 10'000; i++) first += choose_token(logits, options, i / 10'000.0) == 1;
  double total = 0;
  for (const float logit : logits) total += std::exp(logit);
  EXPECT_NEAR(first / 10'000.0, std::exp(3.0) / total, 1e-3);
}

TEST(ChooseToken, TopKAndTopPCutTheTail) {
  GenerateOptions options;
  options.temperature = 1;
  options.top_k = 2;
  EXPECT_EQ(reached(options), (std::set<int32_t>{1, 2}));
  options.top_k = 0;
  options.top_p = 0.79;
  EXPECT_EQ(reached(options), (std::set<int32_t>{1, 2}));
  options.top_p = 1e-9;
  EXPECT_EQ(reached(options), (std::set<int32_t>{1}));
}

TEST(ChooseToken, ImpossibleOptionsAreAllRefused) {
  GenerateOptions options;
  options.temperature = -1;
  options.top_k = -1;
  options.top_p = 0;
  options.max_new_tokens = -1;
  Faults faults;
  options.validate(faults);
  EXPECT_EQ(faults.list().size(), 4u);
}

}  // namespace
}  // namespace scantling
