// What is trained, decayed and drawn: frozen weights, decay of matrices only, tied weights, equal starts.
#include <gtest/gtest.h>

#include "tests/support/training.h"

namespace scantling {
namespace {

using test::Bench;
using test::Flags;
using test::mesh;
using test::operator+;

TEST(Frozen, WeightsStayBitForBitAndTheOthersMove) {
  const Bench bench(test::tiny_llama(true));
  const auto start = test::weights_of(test::write_model(bench.path("model"), test::tiny_llama(true)));
  const Flags patterns[] = {{"--layout.freeze=[\"model.layers.{0..0}.*\", \"model.embed_tokens.weight\"]"},
                            {"--layout.trainable=[\"model.layers.1.*\", \"model.norm.weight\"]"}};
  for (const auto& pattern : patterns)
    for (const auto& layout : {mesh(1, 2, {"--layout.recompute=block"}), mesh(2, 2, {"--layout.precision.compute=bfloat16"})}) {
      const auto run = bench.train(Flags{"--model=" + bench.path("model"), "--train.weight_decay=0.1"} + pattern + layout);
      for (const auto& [name, values] : start) {
        const bool frozen = name.starts_with("model.layers.0.") || name == "model.embed_tokens.weight";
        EXPECT_EQ(run.weights.at(name) == values, frozen) << name;
      }
    }
}

TEST(Frozen, HaveNeitherGradientsNorOptimizerState) {
  const Bench bench;
  const auto run = bench.train(mesh(1, 1, {"--layout.trainable=[\"model.norm.weight\", \"lm_head.weight\"]"}));
  const auto& held = run.price.ranks[0].category_peaks;
  EXPECT_EQ(held[static_cast<size_t>(Category::optimizer)], (64 + 256 * 64) * 8);
  EXPECT_LE(held[static_cast<size_t>(Category::gradients)], (64 + 256 * 64) * 8);
}

TEST(Frozen, NothingToTrainIsRefused) {
  const Bench bench;
  const auto message = failure_of<ConfigError>([&] { bench.train({"--layout.freeze=[\"*\"]"}); });
  EXPECT_NE(message.find("layout.freeze"), std::string::npos) << message;
}

// With the final norm and the head at zero every gradient is zero, so only decay moves anything.
TEST(Decay, ShrinksMatricesAndLeavesNorms) {
  const Bench bench;
  const auto model = test::write_model(bench.path("model"), test::tiny_llama(), [](test::Weights& weights) {
    for (const char* name : {"model.norm.weight", "lm_head.weight"}) std::fill(weights[name].begin(), weights[name].end(), 0.0f);
  });
  const auto start = test::weights_of(model);
  const Flags flags{"--model=" + model, "--train.learning_rate=0.1", "--train.weight_decay=0.1", "--train.max_steps=1"};
  for (const auto& layout : {mesh(1, 1), mesh(1, 2, {"--layout.wrap=[LlamaDecoderLayer]"})}) {
    const auto run = bench.train(flags + layout);
    int64_t decayed = 0, kept = 0;
    for (const auto& [name, values] : start) {
      const bool matrix = values.size() > 64;
      (matrix ? decayed : kept) += static_cast<int64_t>(values.size());
      for (size_t i = 0; i < values.size(); i++)
        ASSERT_NEAR(run.weights.at(name)[i], values[i] * (matrix ? 0.99f : 1.0f), matrix ? 1e-7 : 0) << name << " " << i;
    }
    EXPECT_EQ(decayed, 106'496);
    EXPECT_EQ(kept, 320);
  }
}

int64_t elements(const test::Weights& weights) {
  int64_t count = 0;
  for (const auto& [name, values] : weights) count += static_cast<int64_t>(values.size());
  return count;
}

TEST(Tied, IsStoredOnceAndTrainsOn) {
  const Bench bench(test::tiny_llama(true));
  const auto first = bench.train(mesh(1, 2, {"--train.max_steps=1"}));
  EXPECT_EQ(elements(first.weights), 90'432);
  EXPECT_EQ(first.weights.count("lm_head.weight"), 0u);
  std::filesystem::copy(first.folder, bench.path("first"));
  const auto second = bench.train({"--model=" + bench.path("first"), "--train.max_steps=1"});
  EXPECT_EQ(elements(second.weights), 90'432);
  EXPECT_NE(test::first_difference(first.weights, second.weights), "");
}

TEST(Tied, TheMissingHeadOfAnUntiedModelIsRefused) {
  const Bench bench;
  auto config = test::tiny_llama(true);
  const auto folder = test::write_model(bench.path("model"), config);
  config["tie_word_embeddings"] = false;
  std::ofstream(folder + "/config.json") << config;
  const auto message = failure_of<CheckpointError>([&] { bench.train({"--model=" + folder}); });
  EXPECT_NE(message.find("lm_head.weight"), std::string::npos) << message;
}

TEST(Tied, ASecondHeadInTheFileMustBeTheSame) {
  const Bench bench;
  const auto config = test::tiny_llama(true);
  const auto other = test::write_model(bench.path("other"), config,
                                       [](test::Weights& weights) { weights["lm_head.weight"] = std::vector<float>(256 * 64, 7.0f); });
  const auto message = failure_of<CheckpointError>([&] { bench.train({"--model=" + other}); });
  EXPECT_NE(message.find("\"model.embed_tokens.weight\" and \"lm_head.weight\" are tied"), std::string::npos) << message;
  const auto same = test::write_model(bench.path("same"), config,
                                      [](test::Weights& weights) { weights["lm_head.weight"] = weights.at("model.embed_tokens.weight"); });
  EXPECT_NO_THROW(bench.train({"--model=" + same, "--train.max_steps=1"}));
}

TEST(Drawn, WeightsDependOnTheSeedAndOnNothingElse) {
  const Bench bench;
  const Flags still{"--train.learning_rate=0", "--train.optim=sgd", "--train.max_steps=1"};
  const auto one = bench.train(still);
  for (const auto& layout : {mesh(1, 2), mesh(4, 1, {"--layout.gather=private"}), mesh(1, 7)})
    EXPECT_EQ(test::first_difference(bench.train(still + layout).weights, one.weights), "") << layout[0];
  EXPECT_NE(test::first_difference(bench.train(still + Flags{"--train.seed=1"}).weights, one.weights), "");
  for (const float value : one.weights.at("model.norm.weight")) ASSERT_EQ(value, 1.0f);
}

}  // namespace
}  // namespace scantling
