// SmolLM2-135M-Instruct, imported from its GGUF file: logits, greedy continuations, and six training steps on one device and on four
// shards, against published numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "scantling/checkpoint/gguf_import.h"
#include "scantling/train/generator.h"
#include "tests/support/training.h"

namespace scantling {
namespace {

namespace fs = std::filesystem;
using test::Bench;
using test::Flags;
using test::mesh;
using test::operator+;

class SmolLM2 : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!fs::exists(gguf()) || !fs::exists(reference(""))) return;
    imported_ = std::make_unique<TestFolder>();
    import_gguf(gguf().string(), model());
  }
  static void TearDownTestSuite() { imported_.reset(); }
  void SetUp() override {
    if (!fs::exists(reference(""))) GTEST_SKIP() << "no " << reference("") << ": the shared data is not here";
    if (!fs::exists(gguf())) GTEST_SKIP() << "no " << gguf() << ": the model has not been fetched";
  }

  static fs::path gguf() { return test::user_cache / "scantling" / "smollm2-135m" / "SmolLM2-135M-Instruct.Q4_1.gguf"; }
  static std::string reference(const std::string& name) { return shared_data("reference/smollm2/" + name); }
  static nlohmann::json read(const std::string& name) { return nlohmann::json::parse(bytes_of(reference(name))); }
  static std::vector<test::Tokens> rows() {
    const auto ids = read("train_ids.json");
    std::vector<test::Tokens> rows;
    for (const auto& sequence : ids["sequences"]) rows.push_back(sequence["ids"].get<test::Tokens>());
    return rows;
  }
  static std::string model() { return imported_->path("model"); }

  static inline std::unique_ptr<TestFolder> imported_;
};

TEST_F(SmolLM2, LogitsAreThePublishedOnes) {
  const Generator generator(model());
  const auto published = read("logits.json");
  for (const auto& prompt : published["prompts"]) {
    const auto logits = generator.next_logits(prompt["ids"].get<std::vector<int32_t>>());
    const auto& expected = prompt["float64"];
    for (size_t i = 0; i < 10; i++)
      EXPECT_NEAR(logits[expected["top10_ids"][i].get<size_t>()], expected["top10_logits"][i].get<double>(), 5e-4)
          << prompt["name"] << " " << i;
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    EXPECT_NEAR(std::log(sum), expected["logsumexp"].get<double>(), 1e-4) << prompt["name"];
  }
}

TEST_F(SmolLM2, GreedyIdsAreThePublishedOnes) {
  const Generator generator(model());
  const auto published = read("greedy.json");
  for (const auto& continuation : published["continuations"]) {
    auto ids = continuation["prompt_ids"].get<std::vector<int32_t>>();
    for (const int32_t expected : continuation["new_ids"].get<std::vector<int32_t>>()) {
      const auto next = choose_token(generator.next_logits(ids), {}, 0);
      ASSERT_EQ(next, expected) << continuation["name"] << " after " << ids.size() << " tokens";
      ids.push_back(next);
    }
  }
}

TEST_F(SmolLM2, SixStepsGiveThePublishedLossesAndNorms) {
  const Bench bench(test::tiny_llama(), rows());
  const Flags flags{"--model=" + model(),         "--data.max_length=64",        "--train.max_steps=6",
                    "--train.learning_rate=2e-4", "--train.adam_beta2=0.95",     "--train.weight_decay=0.1",
                    "--train.max_grad_norm=1",    "--train.global_batch_size=4", "--train.per_device_train_batch_size=1"};
  const auto reference = read("train_full.json")["steps"];
  for (const auto& layout : {mesh(1, 1), mesh(1, 4)}) {
    const auto run = bench.train(flags + layout);
    for (size_t step = 0; step < 6; step++) {
      const double loss = reference[step]["loss_float64"], norm = reference[step]["grad_norm_float64"];
      EXPECT_NEAR(run.losses.at(step), loss, 1e-5 * loss) << "step " << step + 1;
      EXPECT_NEAR(run.norms.at(step), norm, 1e-4 * norm) << "step " << step + 1;
    }
    for (const auto& device : run.summary.devices)
      EXPECT_EQ(device.peak_bytes, run.price.ranks[static_cast<size_t>(device.rank)].peak.bytes);
  }
}

TEST_F(SmolLM2, PartlyFrozenStepsGiveThePublishedLossesAndNorms) {
  const Bench bench(test::tiny_llama(), rows());
  const auto reference = read("train_partial.json");
  const auto run =
      bench.train(mesh(1, 4) + Flags{"--model=" + model(), "--data.max_length=64", "--train.max_steps=6", "--train.adam_beta2=0.95",
                                     "--train.learning_rate=" + reference["settings"]["lr"].dump(), "--train.weight_decay=0.1",
                                     "--layout.trainable=[\"model.layers.{26..29}.*\", \"model.norm.weight\"]"});
  for (size_t step = 0; step < 6; step++) {
    const double loss = reference["steps"][step]["loss_float64"], norm = reference["steps"][step]["grad_norm_float64"];
    EXPECT_NEAR(run.losses.at(step), loss, 1e-5 * loss) << "step " << step + 1;
    EXPECT_NEAR(run.norms.at(step), norm, 1e-4 * norm) << "step " << step + 1;
  }
}

}  // namespace
}  // namespace scantling
