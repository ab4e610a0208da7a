// A run as a whole: the schedule in its metrics, what it refuses before a weight is read, and what it leaves behind.
#include <gtest/gtest.h>

#include "tests/support/training.h"

namespace scantling {
namespace {

using test::Bench;
using test::contains;
using test::Flags;
using test::mesh;
using test::operator+;

TEST(Run, TheScheduleCountsOptimizerStepsOnEveryMesh) {
  auto config = test::tiny_llama();
  config.update({{"num_hidden_layers", 1}, {"hidden_size", 16}, {"intermediate_size", 16}});
  const Bench bench(config, test::documents_of(std::vector<int64_t>(20, 3)));
  std::vector<double> expected;
  for (int step = 1; step <= 20; step++) expected.push_back(step <= 10 ? 1e-4 * step : 1e-4 * (20 - step));
  for (const int ranks : {1, 2, 4})
    for (const int accumulation : {1, 2, 4}) {
      const auto run =
          bench.train(mesh(ranks, 1, {"--train.gradient_accumulation_steps=" + std::to_string(accumulation), "--train.max_steps=20"}) +
                      Flags{"--train.lr_scheduler_type=linear", "--train.warmup_steps=10", "--train.learning_rate=1e-3"});
      ASSERT_EQ(run.rates.size(), 20u);
      for (size_t step = 0; step < 20; step++)
        EXPECT_NEAR(run.rates[step], expected[step], 1e-12) << "step " << step + 1 << ", " << ranks << " x " << accumulation;
    }
}

// The weights file is no safetensors file: whoever opens it fails with another error than the one expected here.
class Refused : public testing::Test {
 protected:
  Refused() {
    std::filesystem::create_directories(bench_.path("model"));
    bench_.write("model/config.json", test::tiny_llama().dump());
    bench_.write("model/model.safetensors", "damaged");
  }
  std::string fault(const Flags& flags) {
    return failure_of<ConfigError>([&] { bench_.train(Flags{"--model=" + bench_.path("model")} + flags); });
  }
  Bench bench_;
};

TEST_F(Refused, TheFileIsReallyDamaged) { EXPECT_THROW(bench_.train({"--model=" + bench_.path("model")}), CheckpointError); }

TEST_F(Refused, AWrapClassTheModelLacks) {
  for (const std::string name : {"LlamaLayer", "LLaMADecoderLayer"}) {
    const auto message = fault({"--layout.wrap=[" + name + "]"});
    EXPECT_TRUE(contains(message, name) && contains(message, "LlamaDecoderLayer")) << message;
  }
}

TEST_F(Refused, AFreezePatternThatMatchesNothing) {
  EXPECT_TRUE(contains(fault({"--layout.freeze=[\"transformer.h.0.*\"]"}), "transformer.h.0.*"));
}

TEST_F(Refused, RowsBeyondThePositions) {
  const auto message = fault({"--data.max_length=129"});
  EXPECT_TRUE(contains(message, "129") && contains(message, "128")) << message;
}

TEST_F(Refused, UnknownAndMistypedKeysAllAtOnce) {
  const auto message = fault({"--layout.gradient_checkpoint=true", "--train.weigth_decay=0.1", "--train.max_steps=many"});
  for (const char* part : {"gradient_checkpoint", "weigth_decay", "weight_decay", "max_steps"})
    EXPECT_TRUE(contains(message, part)) << message;
}

TEST_F(Refused, NothingIsLeftBehind) {
  fault({"--layout.wrap=[LlamaLayer]"});
  EXPECT_FALSE(std::filesystem::exists(bench_.path("out")));
}

std::string weights_fault(const std::function<void(test::Weights&)>& change) {
  const Bench bench;
  const auto folder = test::write_model(bench.path("model"), test::tiny_llama(), change);
  return failure_of<CheckpointError>([&] { bench.train({"--model=" + folder}); });
}

TEST(WeightFiles, ARenamedKeyIsMissingAndUnexpected) {
  const auto message = weights_fault([](test::Weights& weights) {
    auto node = weights.extract("model.layers.1.mlp.up_proj.weight");
    node.key() = "model.layers.1.mlp.upper_proj.weight";
    weights.insert(std::move(node));
  });
  EXPECT_TRUE(contains(message, "up_proj") && contains(message, "upper_proj")) << message;
}

TEST(WeightFiles, APrefixOnEveryKeyIsRefused) {
  const auto message = weights_fault([](test::Weights& weights) {
    test::Weights renamed;
    for (auto& [name, values] : weights) renamed["transformer." + name] = values;
    weights = renamed;
  });
  EXPECT_TRUE(contains(message, "transformer.")) << message;
}

TEST(WeightFiles, AnotherShapeIsRefusedWithBoth) {
  const Bench bench;
  const auto folder = test::write_model(bench.path("model"), test::tiny_llama());
  auto config = test::tiny_llama();
  config.update({{"intermediate_size", 64}});
  std::ofstream(folder + "/config.json") << config;
  const auto message = failure_of<CheckpointError>([&] { bench.train({"--model=" + folder}); });
  EXPECT_TRUE(contains(message, "[128, 64]") && contains(message, "[64, 64]")) << message;
}

TEST(WeightFiles, ABiasTheConfigurationDoesNotNameIsUnexpected) {
  const auto message =
      weights_fault([](test::Weights& weights) { weights["model.layers.0.self_attn.q_proj.bias"] = std::vector<float>(64); });
  EXPECT_TRUE(contains(message, "q_proj.bias")) << message;
}

TEST(WeightFiles, BiasesTrainAndAreExportedWithTheirFlags) {
  auto config = test::tiny_llama();
  config.update({{"attention_bias", true}, {"mlp_bias", true}, {"head_dim", 32}, {"some_later_key", "kept"}});
  const Bench bench(config);
  const auto run = bench.train(mesh(1, 2));
  const WeightFolder folder(run.folder);
  EXPECT_EQ(folder.shape("model.layers.0.self_attn.q_proj.weight"), (std::vector<int64_t>{128, 64}));
  EXPECT_EQ(folder.shape("model.layers.0.self_attn.o_proj.weight"), (std::vector<int64_t>{64, 128}));
  for (const float value : run.weights.at("model.layers.1.mlp.down_proj.bias")) ASSERT_NE(value, 0) << "drawn as 0, and trained";
  std::ifstream file(run.folder + "/config.json");
  const auto exported = nlohmann::json::parse(file);
  for (const char* key : {"attention_bias", "mlp_bias", "head_dim", "some_later_key"}) EXPECT_EQ(exported[key], config[key]) << key;
}

TEST(Run, AFinishedRunIsNotOverwrittenUnasked) {
  const Bench bench;
  bench.train({"--train.max_steps=1"});
  const auto job = make_job(bench.options({"--train.max_steps=1"}));
  EXPECT_TRUE(contains(failure_of<ConfigError>([&] { train(job, false); }), "--overwrite"));
}

TEST(Run, EvaluationsAndLossesAreInTheSummary) {
  const Bench bench;
  const auto run = bench.train(mesh(1, 2, {"--data.eval=" + bench.rows(), "--train.max_steps=5", "--train.eval_steps=2"}));
  ASSERT_TRUE(run.summary.eval_loss_before && run.summary.eval_loss_after);
  EXPECT_NEAR(*run.summary.eval_loss_before, bench.evaluate({}).loss, 1e-5);
  EXPECT_LT(*run.summary.eval_loss_after, *run.summary.eval_loss_before);
  EXPECT_EQ(run.summary.steps, 5);
  EXPECT_EQ(run.summary.final_loss, run.losses.at(4));
  EXPECT_NEAR(bench.evaluate({"--model=" + run.folder}).loss, *run.summary.eval_loss_after, 1e-5)
      << "the exported model is the trained one";
}

}  // namespace
}  // namespace scantling
