// stories260K against published numbers: twenty training steps and the greedy continuation.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "scantling/train/generator.h"
#include "tests/support/training.h"

namespace scantling {
namespace {

using test::Bench;
using test::Flags;
using test::mesh;
using test::operator+;

class Stories : public testing::Test {
 protected:
  void SetUp() override {
    at::set_num_threads(1);  // so small a model is slower on two
    if (!std::filesystem::exists(folder())) GTEST_SKIP() << "no " << folder() << ": the shared data is not here";
  }
  static std::string folder() { return shared_data("checkpoints/stories260K-hf"); }
  static nlohmann::json read(const std::string& name) { return nlohmann::json::parse(bytes_of(shared_data(name))); }
};

TEST_F(Stories, TwentyStepsGiveThePublishedLossesAndNorms) {
  std::vector<test::Tokens> rows;
  const auto ids = read("reference/stories260k/train_ids.json");
  for (const auto& batch : ids["batches"])
    for (const auto& row : batch) rows.push_back(row.get<test::Tokens>());
  const Bench bench(test::tiny_llama(), rows);
  const Flags flags{"--model=" + folder(),        "--data.max_length=128",       "--train.max_steps=20",
                    "--train.learning_rate=1e-3", "--train.adam_beta2=0.95",     "--train.weight_decay=0.1",
                    "--train.max_grad_norm=1",    "--train.global_batch_size=8", "--train.per_device_train_batch_size=2"};
  const auto reference = read("reference/stories260k/train.json")["steps"];
  for (const auto& layout : {mesh(1, 1), mesh(1, 4)}) {
    const auto run = bench.train(flags + layout);
    ASSERT_EQ(run.losses.size(), 20u);
    for (size_t step = 0; step < 20; step++) {
      const double loss = reference[step]["loss_float64"], norm = reference[step]["grad_norm_float64"];
      EXPECT_NEAR(run.losses[step], loss, 5e-6 * loss) << "step " << step + 1;
      EXPECT_NEAR(run.norms[step], norm, 5e-6 * norm) << "step " << step + 1;
    }
  }
}

TEST_F(Stories, GreedyIdsAreThePublishedOnes) {
  const auto expected = read("checkpoints/stories260K-hf/expected_greedy.json");
  const Generator generator(folder());
  auto ids = expected["prompt_ids"].get<std::vector<int32_t>>();
  const auto wanted = expected["greedy_ids"].get<std::vector<int32_t>>();
  while (ids.size() < wanted.size()) ids.push_back(choose_token(generator.next_logits(ids), {}, 0));
  EXPECT_EQ(ids, wanted);
}

TEST_F(Stories, GenerateContinuesAPrompt) {
  const auto expected = read("checkpoints/stories260K-hf/expected_greedy.json");
  const auto wanted = expected["greedy_ids"].get<std::vector<int32_t>>();
  GenerateOptions options;
  options.max_new_tokens = 20;
  const auto found = Generator(folder()).generate("", options);
  EXPECT_EQ(found.prompt_ids, expected["prompt_ids"].get<std::vector<int32_t>>());
  EXPECT_EQ(found.ids, std::vector<int32_t>(wanted.begin() + 1, wanted.begin() + 21));
}

}  // namespace
}  // namespace scantling
