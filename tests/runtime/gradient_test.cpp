// Gradients on their way: sums in float32, one norm over all shards, clipping by it, and what must not reach the weights.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <limits>
#include <mutex>

#include "scantling/comm/recording_communicator.h"
#include "scantling/comm/run_ranks.h"
#include "scantling/models/llama.h"
#include "scantling/runtime/rank_runtime.h"
#include "tests/support/training.h"

namespace scantling {
namespace {

using test::Bench;
using test::Flags;
using test::mesh;
using test::operator+;

Layout norm_only(const Model& model, int shards, DType compute) {
  LayoutOptions options;
  options.mesh.shard = shards;
  options.trainable = {"model.norm.weight"};
  options.precision.compute = compute;
  DeviceOptions devices;
  devices.count = shards;
  return resolve_layout(model.description, options, devices);
}

// The norm over the final norm's weight (64 elements) when rank r contributes the constants contributions[r], one after another.
double norm_of(const std::vector<std::vector<float>>& contributions, DType compute) {
  const auto model = make_llama(parse_llama_config(test::tiny_llama(), "config.json"));
  const int ranks = static_cast<int>(contributions.size()), p = model.description.index_of("model.norm.weight"), head = 3;
  const auto layout = norm_only(model, ranks, compute);
  const ProcessWeights weights(model.description, layout);
  ExactSum squares;
  std::mutex mutex;
  run_ranks(ranks, [&](Communicator& world) {
    Ledger ledger(world.rank());
    const RankEnvironment environment(model, layout, ledger, world, true);
    ParameterStore store(environment, &weights);
    OptimizerState optimizer(environment, store, {});
    GradientStore gradients(environment, optimizer);
    gradients.begin_step();
    bool first = true;
    for (const float value : contributions[static_cast<size_t>(world.rank())]) {
      auto whole = at::empty({64}, at::TensorOptions().dtype(compute == DType::bfloat16 ? at::kBFloat16 : at::kFloat)).fill_(value);
      gradients.start_reduce(head, {{p, whole}}, first, nullptr).wait();
      first = false;
    }
    gradients.finish(head);
    std::lock_guard lock(mutex);
    squares.merge(gradients.squares());
  });
  return std::sqrt(squares.value());
}

TEST(Gradients, AccumulateInFloat32WhenTheyAreBfloat16) {
  EXPECT_DOUBLE_EQ(norm_of({{256, 1, 1, 1, 1, 1, 1, 1, 1}}, DType::bfloat16), 264 * 8);
  EXPECT_DOUBLE_EQ(norm_of({{256, 1, 1, 1, 1}, {1, 1, 1, 1, 0}}, DType::bfloat16), 264 * 8);
}

TEST(Gradients, TheNormIsOfAllShardsOnce) {
  EXPECT_DOUBLE_EQ(norm_of({{1}}, DType::float32), 8);
  EXPECT_DOUBLE_EQ(norm_of({{0.25}, {0.25}, {0.25}, {0.25}}, DType::float32), 8);
  EXPECT_DOUBLE_EQ(norm_of(std::vector<std::vector<float>>(7, {1.0f}), DType::float32), 56) << "64 elements on 7 shards";
}

// With plain SGD at learning rate 1 the weights move by the gradient.
double moved(const test::Weights& before, const test::Weights& after) {
  double squares = 0;
  for (const auto& [name, values] : before)
    for (size_t i = 0; i < values.size(); i++) squares += std::pow(static_cast<double>(values[i]) - after.at(name)[i], 2);
  return std::sqrt(squares);
}

TEST(Gradients, TheReportedNormIsThatOfTheStepAndClippingScalesIt) {
  const Bench bench;
  const Flags sgd{"--train.optim=sgd", "--train.max_steps=1", "--train.per_device_train_batch_size=1"};
  const Flags still{"--train.learning_rate=0"}, by_one{"--train.learning_rate=1"};
  for (const auto& layout : {mesh(1, 1), mesh(1, 4), mesh(2, 2)}) {
    const auto start = bench.train(sgd + layout + still);
    const auto whole = bench.train(sgd + layout + by_one + Flags{"--train.max_grad_norm=0"});
    EXPECT_NEAR(moved(start.weights, whole.weights), whole.norms[0], 1e-5 * whole.norms[0]) << layout[0] << layout[2];
    const auto clipped = bench.train(sgd + layout + by_one + Flags{"--train.max_grad_norm=0.25"});
    EXPECT_EQ(clipped.norms, whole.norms) << "the norm before clipping is told";
    EXPECT_NEAR(moved(start.weights, clipped.weights), 0.25, 1e-5) << layout[0] << layout[2];
  }
}

TEST(Gradients, SmallUpdatesMoveTheMasterBehindBfloat16) {
  const auto model = make_llama(parse_llama_config(test::tiny_llama(), "config.json"));
  const auto layout = norm_only(model, 1, DType::bfloat16);
  const int p = model.description.index_of("model.norm.weight");
  const ProcessWeights weights(model.description, layout);
  Ledger ledger(0);
  const auto world = make_recording_communicator(0, 1, std::make_shared<CommunicationLog>());
  const RankEnvironment environment(model, layout, ledger, *world, true);
  ParameterStore store(environment, &weights);
  store.fill([](int, int64_t, int64_t count, float* to) { std::fill_n(to, count, 1.0f); });
  OptimizerOptions sgd;
  sgd.kind = OptimizerKind::sgd;
  OptimizerState optimizer(environment, store, sgd);
  const std::vector<float> ones(64, 1.0f);
  for (int step = 1; step <= 10; step++) optimizer.update(p, 0, ones.data(), 64, {1e-3, step, 1.0f});
  for (int i = 0; i < 64; i++) {
    ASSERT_NEAR(store.part(p).master[i], 0.9900001, 1e-6);
    ASSERT_EQ(store.tensors()[static_cast<size_t>(p)][i].item<float>(), 0.98828125f);
  }
}

// Token 200 has an infinite embedding and stands in row 1 only, which is rank 1's.
class NonFinite : public testing::Test {
 protected:
  NonFinite() : bench_(test::tiny_llama(), {{1, 2, 3, 4}, {5, 200, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}) {
    model_ = test::write_model(bench_.path("model"), test::tiny_llama(), [](test::Weights& weights) {
      weights["model.embed_tokens.weight"][200 * 64 + 3] = std::numeric_limits<float>::infinity();
    });
    good_ = bench_.write("good.jsonl", test::token_rows({{8, 9, 10, 11}, {12, 13, 14, 15}}));
  }
  Flags flags(const Flags& more) const { return Flags{"--model=" + model_, "--train.per_device_train_batch_size=1"} + more; }
  Bench bench_;
  std::string model_, good_;
};

TEST_F(NonFinite, TheStepIsSkippedOnAllRanksAndLeavesNoTrace) {
  for (const auto& layout : {mesh(1, 2), mesh(2, 1, {"--layout.gather=private"})}) {
    testing::internal::CaptureStderr();
    const auto skipped = bench_.train(flags(layout) + Flags{"--train.max_steps=2"});
    const auto told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("step 1: the gradient of model.embed_tokens.weight is not finite"), std::string::npos) << told;
    EXPECT_EQ(skipped.summary.skipped_steps, 1);
    const auto without = bench_.train(flags(layout) + Flags{"--train.max_steps=1", "--data.train=" + good_});
    EXPECT_EQ(skipped.losses.at(1), without.losses.at(0));
    EXPECT_EQ(test::first_difference(skipped.weights, without.weights), "") << "weights and moments are those of the good step alone";
  }
}

TEST_F(NonFinite, ASkippedStepLeavesTheWeightsToTheBit) {
  const auto run = bench_.train(flags(mesh(1, 2)) + Flags{"--train.max_steps=1"});
  EXPECT_EQ(test::first_difference(run.weights, test::weights_of(model_)), "");
}

TEST_F(NonFinite, TooManySkipsInARowEndTheRun) {
  const auto bad = bench_.write("bad.jsonl", test::token_rows({{1, 2}, {200, 3}}));
  const auto run = [&](int limit) {
    return failure_of<Error>([&] {
      bench_.train(flags(mesh(1, 2)) +
                   Flags{"--data.train=" + bad, "--train.max_steps=3", "--train.max_skipped_steps=" + std::to_string(limit)});
    });
  };
  EXPECT_EQ(run(3), "");
  EXPECT_NE(run(2).find("model.embed_tokens.weight"), std::string::npos) << run(2);
}

TEST_F(NonFinite, StopEndsTheRunAtTheStep) {
  for (const char* clip : {"0", "1"}) {
    const auto message = failure_of<Error>([&] {
      bench_.train(flags(mesh(1, 2)) + Flags{"--train.nonfinite=stop", "--train.max_grad_norm=" + std::string(clip)});
    });
    EXPECT_NE(message.find("Step 1: the gradient of model.embed_tokens.weight"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace scantling
