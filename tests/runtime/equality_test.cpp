// A layout never changes the result: in strict mode losses, norms and final weights are equal to the bit for every mesh, gather mode,
// prefetch distance and recompute, as long as micro-batches have the same rows.
#include <gtest/gtest.h>

#include "tests/support/training.h"

namespace scantling {
namespace {

using test::Bench;
using test::Flags;
using test::mesh;
using test::operator+;

const Flags eight_rows{"--train.global_batch_size=8", "--train.per_device_train_batch_size=1"};

struct Case {
  const char* name;
  nlohmann::json config;
  Flags flags;
};

std::vector<Case> cases() {
  return {{"untied", test::tiny_llama(false), {}},
          {"tied", test::tiny_llama(true), {}},
          {"untied, streamed updates", test::tiny_llama(false), {"--train.max_grad_norm=0", "--train.nonfinite=stop"}},
          {"tied, streamed updates", test::tiny_llama(true), {"--train.max_grad_norm=0", "--train.nonfinite=stop"}},
          {"odd sizes, sgd", test::odd_llama(true), {"--train.optim=sgd", "--train.momentum=0.9"}},
          {"bfloat16", test::tiny_llama(true), {"--layout.precision.compute=bfloat16"}},
          {"frozen below", test::tiny_llama(false), {"--layout.trainable=[\"model.layers.1.*\", \"model.norm.weight\"]"}}};
}

std::vector<Flags> layouts() {
  return {mesh(4, 1),
          mesh(1, 4),
          mesh(2, 2, {"--layout.prefetch=2"}),
          mesh(1, 1, {"--layout.recompute=block"}),
          mesh(1, 4, {"--layout.recompute=block", "--layout.prefetch=0"}),
          mesh(1, 4, {"--layout.gather=private", "--layout.prefetch=2"}),
          mesh(2, 2, {"--layout.gather=private", "--layout.recompute=block"}),
          mesh(1, 2, {"--layout.wrap=[Embedding, Linear]"}),
          mesh(2, 1, {"--layout.wrap.min_parameters=1000", "--layout.prefetch=3"}),
          mesh(1, 8, {"--layout.gather=private", "--layout.prefetch=0"})};
}

std::string text_of(const Flags& flags) {
  std::string text;
  for (const auto& flag : flags) text += flag + " ";
  return text;
}

class Equality : public testing::TestWithParam<size_t> {};

TEST_P(Equality, EveryLayoutGivesTheSameBits) {
  const auto one_case = cases()[GetParam()];
  const Bench bench(one_case.config);
  const auto expected = bench.train(eight_rows + one_case.flags);
  ASSERT_EQ(expected.losses.size(), 3u);
  for (const auto& layout : layouts()) {
    SCOPED_TRACE(std::string(one_case.name) + ": " + text_of(layout));
    const auto actual = bench.train(eight_rows + one_case.flags + layout);
    EXPECT_EQ(actual.losses, expected.losses);
    EXPECT_EQ(actual.norms, expected.norms);
    EXPECT_EQ(test::first_difference(actual.weights, expected.weights), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Equality, testing::Range(size_t{0}, cases().size()));

TEST(Equality, TwoRowsADeviceAreEqualAcrossMeshes) {
  const Bench bench;
  const Flags rows{"--train.global_batch_size=8", "--train.per_device_train_batch_size=2"};
  const auto expected = bench.train(rows);
  for (const auto& layout : {mesh(4, 1), mesh(2, 2), mesh(1, 4), mesh(1, 2)}) {
    const auto actual = bench.train(rows + layout);
    EXPECT_EQ(actual.losses, expected.losses) << text_of(layout);
    EXPECT_EQ(test::first_difference(actual.weights, expected.weights), "") << text_of(layout);
  }
}

TEST(Equality, StreamedAndDeferredUpdatesAgreeWhereNothingIsClipped) {
  const Bench bench(test::tiny_llama(true));
  const auto deferred = bench.train(eight_rows + Flags{"--train.max_grad_norm=0"} + mesh(1, 4));
  const auto streamed = bench.train(eight_rows + Flags{"--train.max_grad_norm=0", "--train.nonfinite=stop"} + mesh(1, 4));
  EXPECT_EQ(streamed.norms, deferred.norms);
  EXPECT_EQ(test::first_difference(streamed.weights, deferred.weights), "");
}

// More shards than there are tokens, rows or heads; some ranks own nothing of many parameters.
TEST(Equality, SizesThatDoNotDivideEqualOneDevice) {
  const Bench bench(test::odd_llama());
  for (const int shards : {3, 4, 7}) {
    const Flags rows{"--train.per_device_train_batch_size=1", "--train.max_steps=2"};
    const auto expected = bench.train(rows + Flags{"--train.gradient_accumulation_steps=" + std::to_string(shards)});
    const auto actual = bench.train(rows + mesh(1, shards, {"--layout.gather=private"}));
    EXPECT_EQ(actual.losses, expected.losses) << shards << " shards";
    EXPECT_EQ(test::first_difference(actual.weights, expected.weights), "") << shards << " shards";
  }
}

TEST(Equality, ARunRepeatsItself) {
  const Bench bench;
  const Flags flags = eight_rows + mesh(2, 2) + Flags{"--data.shuffle=true", "--train.max_steps=2"};
  const auto first = bench.train(flags), second = bench.train(flags);
  EXPECT_EQ(first.losses, second.losses);
  EXPECT_EQ(test::first_difference(first.weights, second.weights), "");
}

}  // namespace
}  // namespace scantling
