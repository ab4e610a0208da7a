// The run file: what is read, what is filled in, and that every fault is named with its line, its key and what would do.
#include "scantling/train/run_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "scantling/train/run_fields.h"

namespace scantling {
namespace {

// A model and a data file that exist, and texts of run files around them.
class RunFile : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/model.json") << "{}";
    std::ofstream(folder_ + "/fortunes.txt") << "text";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string head() const { return "model: " + folder_ + "/model.json\ndata: {train: " + folder_ + "/fortunes.txt}\n"; }
  RunOptions read(const std::string& rest, const std::vector<std::string>& flags = {}) const {
    return parse_run(head() + rest, "run.yaml", flags, RunUse::train);
  }
  std::string faults(const std::string& rest, const std::vector<std::string>& flags = {}) const {
    return faults_of_text(head() + rest, flags, RunUse::train);
  }
  static std::string faults_of_text(const std::string& text, const std::vector<std::string>& flags, RunUse use) {
    try {
      parse_run(text, "run.yaml", flags, use);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no fault";
  }

  std::string folder_ = testing::TempDir() + "scantling_" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

#define EXPECT_HOLDS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(RunFile, ReadsEverySection) {
  const auto run = read(
      "devices: {count: 4, memory: 1GiB}\nlayout:\n  mesh: {data: 2, shard: 2}\n  freeze: [\"model.layers.{0..25}.*\"]\n"
      "  recompute: block\n  gather: private\n  precision: {compute: bfloat16, frozen: same}\n"
      "train: {max_steps: 20, learning_rate: 2e-4, optim: sgd, momentum: 0.9, strict: true, seed: 18446744073709551615}\n");
  EXPECT_EQ(run.devices.memory_bytes, int64_t{1} << 30);
  EXPECT_EQ(run.layout.mesh.data, 2);
  EXPECT_EQ(run.layout.freeze, std::vector<std::string>{"model.layers.{0..25}.*"});
  EXPECT_EQ(run.layout.recompute, Recompute::block);
  EXPECT_EQ(run.layout.gather, GatherMode::private_copy);
  EXPECT_EQ(run.layout.precision.compute, DType::bfloat16);
  EXPECT_EQ(run.train.optimizer.learning_rate, 2e-4);
  EXPECT_EQ(run.train.optimizer.kind, OptimizerKind::sgd);
  EXPECT_TRUE(run.train.strict);
  EXPECT_EQ(run.train.seed, UINT64_MAX);
}

TEST_F(RunFile, JsonIsReadToo) {
  EXPECT_EQ(
      parse_run("{\"model\": \"" + folder_ + "/model.json\", \"train\": {\"max_steps\": 3}}", "run.json", {}, RunUse::plan).train.max_steps,
      3);
}

TEST_F(RunFile, AMeshLeftOutShardsOverAllDevices) {
  EXPECT_EQ(read("devices: {count: 3}").layout.mesh.shard, 3);
  EXPECT_EQ(read("devices: {count: 3}\nlayout: {mesh: }").layout.mesh.shard, 3);
  EXPECT_EQ(read("devices: {count: 3}\nlayout: {mesh: {data: 3}}").layout.mesh.shard, 1);
  EXPECT_EQ(read("").layout.mesh.shard, 1);
}

TEST_F(RunFile, PackingDefaultsToTheFormats) {
  EXPECT_TRUE(read("").data.packing);
  EXPECT_FALSE(read("", {"--data.format=tokens"}).data.packing);
  EXPECT_FALSE(read("", {"--data.packing=false"}).data.packing);
  EXPECT_TRUE(read("", {"--data.format=chat", "--data.packing=dense"}).data.packing_dense);
}

TEST_F(RunFile, TwoBatchSizesFixTheThird) {
  const std::string devices = "devices: {count: 4}\nlayout: {mesh: {data: 2, shard: 2}}\n";
  struct Case {
    const char* given;
    int64_t rows, accumulation, global;
  };
  for (const auto& [given, rows, accumulation, global] :
       {Case{"", 1, 1, 4}, Case{"global_batch_size: 16", 1, 4, 16}, Case{"global_batch_size: 16, per_device_train_batch_size: 2", 2, 2, 16},
        Case{"global_batch_size: 16, gradient_accumulation_steps: 1", 4, 1, 16}, Case{"per_device_train_batch_size: 3", 3, 1, 12},
        Case{"gradient_accumulation_steps: 5", 1, 5, 20}, Case{"per_device_train_batch_size: 2, gradient_accumulation_steps: 3", 2, 3, 24},
        Case{"per_device_train_batch_size: 2, gradient_accumulation_steps: 3, global_batch_size: 24", 2, 3, 24}}) {
    const auto train = read(devices + "train: {" + given + "}").train;
    EXPECT_EQ(train.per_device_train_batch_size, rows) << given;
    EXPECT_EQ(train.gradient_accumulation_steps, accumulation) << given;
    EXPECT_EQ(train.global_batch_size, global) << given;
    EXPECT_EQ(train.per_device_eval_batch_size, rows) << given;
  }
}

TEST_F(RunFile, BatchSizesThatDoNotWorkOutNameThoseThatDo) {
  const std::string devices = "devices: {count: 4}\n";
  EXPECT_HOLDS(faults(devices + "train: {global_batch_size: 6}"), "Use train.global_batch_size 4 or 8");
  EXPECT_HOLDS(faults(devices + "train: {global_batch_size: 3}"), "Use train.global_batch_size 4");
  const auto three = faults(devices + "train: {global_batch_size: 16, per_device_train_batch_size: 2, gradient_accumulation_steps: 3}");
  EXPECT_HOLDS(three, "run.yaml:4: train.global_batch_size is 16");
  EXPECT_HOLDS(three, "1 x 4, 2 x 2, 4 x 1");
  EXPECT_HOLDS(faults("train: {per_device_train_batch_size: 0}"), "a whole number of 1 or more");
}

TEST_F(RunFile, AMeshOfTheWrongSizeNamesTheFactorisations) {
  const auto wrong = faults("devices: {count: 4}\nlayout: {mesh: {data: 3}}");
  EXPECT_HOLDS(wrong, "= 3 ranks, but devices.count is 4");
  EXPECT_HOLDS(wrong, "{data: 1, shard: 4}, {data: 2, shard: 2}, {data: 4, shard: 1}");
  EXPECT_HOLDS(faults("layout: {mesh: {shard: 0}}"), "layout.mesh.shard is 0");
  for (const char* axis : {"stage", "tensor"})
    EXPECT_HOLDS(faults("devices: {count: 2}\nlayout: {mesh: {" + std::string(axis) + ": 2}}"),
                 "This version runs the axes data and shard");
}

TEST_F(RunFile, UnknownKeysNameTheNearestKeyOrTheirSection) {
  const auto all = faults("train:\n  weigth_decay: 0.1\n  gradient_checkpoint: true\n  max_length: 4\nlayuot: {}\nlearning_rate: 1\n");
  EXPECT_HOLDS(all,
               "run.yaml:4: train.weigth_decay is no key of a run file. Every key must be known. The nearest key is train.weight_decay.");
  EXPECT_HOLDS(all, "run.yaml:5: train.gradient_checkpoint");
  EXPECT_HOLDS(all, "layout.recompute");
  EXPECT_HOLDS(all, "belongs in section data: data.max_length");
  EXPECT_HOLDS(all, "The nearest section is layout");
  EXPECT_HOLDS(all, "belongs in section train: train.learning_rate");
}

TEST_F(RunFile, ValuesOfTheWrongTypeNameWhatIsNeeded) {
  const auto all = faults(
      "devices: {memory: 0}\nlayout: {freeze: {a: b}, precision: {reduce: bfloat16}, gather: 1}\n"
      "train: {max_steps: ten, learning_rate: \"0.1\", strict: yes, seed: -1, weight_decay: , adam_beta1: nan, warmup_steps: 1.5}\n");
  for (const char* part :
       {"run.yaml:5: train.max_steps is ten. It must be a whole number", "train.learning_rate is the text \"0.1\". It must be a number",
        "train.strict is yes. It must be true or false", "train.seed is -1", "train.weight_decay has no value", "train.adam_beta1 is nan",
        "train.warmup_steps is 1.5", "devices.memory is 0", "layout.freeze is a map",
        "layout.precision.reduce is bfloat16. It must be float32", "layout.gather is 1. It must be one of shared | private"})
    EXPECT_HOLDS(all, part);
}

TEST_F(RunFile, SectionsMustBeMaps) {
  EXPECT_HOLDS(faults("train: 5"), "run.yaml:3: train is 5. It is a section");
  EXPECT_HOLDS(faults("layout: {mesh: [1, 2]}"), "layout.mesh is a list");
  EXPECT_HOLDS(faults_of_text("- a", {}, RunUse::plan), "holds a list");
  EXPECT_HOLDS(faults("train.seed: 3"), "sections are nested");
  EXPECT_EQ(read("train:\nlayout:\n").train.max_steps, 0);
}

TEST_F(RunFile, MalformedFilesAreRefusedWithTheLine) {
  EXPECT_HOLDS(faults("train: {seed: 1\n"), "is not valid YAML");
  EXPECT_HOLDS(faults("layout: {freeze: [*.mlp.*]}\n"), "run.yaml:3: is not valid YAML");
  EXPECT_HOLDS(faults("train: {seed: 1, seed: 2}"), "run.yaml:3: seed stands twice");
  EXPECT_HOLDS(faults("---\ntrain: {}\n"), "2 documents");
  EXPECT_HOLDS(faults("? [a]\n: 1\n"), "a key is no text");
  EXPECT_HOLDS(faults("train: &loop {seed: *loop}\n"), "run.yaml");
}

TEST_F(RunFile, OverridesReachAnyDepthAndWin) {
  const auto run = read("devices: {count: 2}\ntrain: {seed: 1}\n", {"--layout.mesh.data=2", "--train.seed=7", "--data.document_separator=%",
                                                                    "--layout.freeze=[\"a.*\", b]", "--train.output_dir=/tmp/a: b"});
  EXPECT_EQ(run.layout.mesh.data, 2);
  EXPECT_EQ(run.train.seed, 7u);
  EXPECT_EQ(run.data.document_separator, "%");
  EXPECT_EQ(run.layout.freeze, (std::vector<std::string>{"a.*", "b"}));
  EXPECT_EQ(run.train.output_dir, "/tmp/a: b");
  EXPECT_EQ(read("", {"--layout.freeze={a,b}.weight"}).layout.freeze, std::vector<std::string>{"{a,b}.weight"});
  EXPECT_EQ(read("", {"--layout.wrap={min_parameters: 5}"}).layout.wrap.min_parameters, 5);
  EXPECT_EQ(read("devices: {count: 2}", {"--layout.mesh={data: 2}"}).layout.mesh.data, 2);
}

TEST_F(RunFile, FaultsOfOverridesNameTheFlag) {
  const auto all =
      faults("", {"--train.seed=1", "--train.seed=1", "--train.max_steps=x", "--train.strict", "--trian.seed=2", "--layout.wrap=[a"});
  EXPECT_HOLDS(all, "--train.seed: train.seed is given twice");
  EXPECT_HOLDS(all, "--train.max_steps: train.max_steps is x");
  EXPECT_HOLDS(all, "Write --train.strict=VALUE");
  EXPECT_HOLDS(all, "--trian.seed: trian.seed is no key");
  EXPECT_HOLDS(all, "--layout.wrap:1: is not valid YAML");
  EXPECT_HOLDS(faults("devices: {count: 2}", {"--layout.mesh={data: 2}", "--layout.mesh.data=2"}), "given twice");
  EXPECT_HOLDS(faults("", {"--train.max_steps=-1"}), "--train.max_steps: train.max_steps is -1");
}

TEST_F(RunFile, WrapTakesClassesOrASize) {
  EXPECT_EQ(read("layout: {wrap: [LlamaDecoderLayer]}").layout.wrap.classes, std::vector<std::string>{"LlamaDecoderLayer"});
  EXPECT_EQ(read("layout: {wrap: LlamaDecoderLayer}").layout.wrap.classes, std::vector<std::string>{"LlamaDecoderLayer"});
  EXPECT_EQ(read("layout: {wrap: {min_parameters: 1000}}").layout.wrap.min_parameters, 1000);
  EXPECT_HOLDS(faults("layout: {wrap: {min_parameters: 0}}"), "1 or more");
  EXPECT_HOLDS(faults("layout: {wrap: [A]}", {"--layout.wrap.min_parameters=5"}), "one or the other");
}

TEST_F(RunFile, MissingFilesNameTheKeyAndTheNearestFile) {
  EXPECT_HOLDS(faults("", {"--data.train=" + folder_ + "/fortune.txt"}),
               "data.train is \"" + folder_ + "/fortune.txt\", which does not exist. The folder has " + folder_ + "/fortunes.txt");
  EXPECT_HOLDS(faults("", {"--model=" + folder_ + "/none/x"}), "There is no folder");
  EXPECT_HOLDS(faults("", {"--data.eval=" + folder_}), "a folder");
  EXPECT_HOLDS(faults_of_text("", {}, RunUse::train), "model is not given");
  EXPECT_HOLDS(faults_of_text("", {}, RunUse::train), "data.train is not given");
  EXPECT_THROW(load_run(folder_ + "/none.yaml", {}), ConfigError);
  EXPECT_THROW(load_run(folder_, {}), ConfigError);
}

TEST_F(RunFile, APlanNeedsNoData) {
  EXPECT_EQ(faults_of_text("model: " + folder_ + "/model.json\ndata: {train: not-here.txt}", {}, RunUse::plan), "no fault");
  EXPECT_HOLDS(faults_of_text("model: " + folder_ + "/model.json", {}, RunUse::evaluate), "data.eval is not given");
}

TEST_F(RunFile, ValuesOutOfRangeAreAllListed) {
  const auto ranges = faults(
      "devices: {count: 0, kind: tpu}\nlayout: {prefetch: -1, freeze: [\"{\"], trainable: [a]}\n"
      "train: {learning_rate: -1, adam_beta2: 1, adam_epsilon: 0, momentum: 0.9, warmup_steps: -2, decay_steps: 3,\n"
      "  logging_steps: 0, num_train_epochs: 0, communication_timeout_s: 0, eval_steps: 5, max_skipped_steps: 0}\n",
      {"--data.max_length=1"});
  for (const char* part :
       {"devices.count is 0", "devices.kind is \"tpu\"", "layout.prefetch is -1", "layout.freeze: The pattern \"{\"", "are both given",
        "train.learning_rate is -1", "train.adam_beta2 is 1", "train.adam_epsilon is 0", "Only sgd has it", "train.warmup_steps is -2",
        "Only warmup_stable_decay", "train.logging_steps is 0", "train.num_train_epochs is 0", "train.communication_timeout_s is 0",
        "there is no data.eval", "train.max_skipped_steps is 0", "data.max_length is 1"})
    EXPECT_HOLDS(ranges, part);
}

TEST_F(RunFile, AScheduleLongerThanTheRunIsRefused) {
  EXPECT_HOLDS(faults("train: {max_steps: 5, lr_scheduler_type: warmup_stable_decay, warmup_steps: 3, decay_steps: 3}"), "decay_steps");
  EXPECT_HOLDS(faults("train: {max_steps: 5, learning_rate: 1e-4, min_learning_rate: 1e-3}"), "min_learning_rate");
  EXPECT_EQ(read("train: {lr_scheduler_type: constant_with_warmup}").train.schedule.kind, ScheduleKind::constant);
}

TEST_F(RunFile, TheEchoReadsBackToTheSame) {
  const auto run = read(
      "devices: {count: 2, memory: 1000001}\nlayout: {wrap: {min_parameters: 7}, trainable: [\"re:a\\\\.(b|c)\", \"*\"]}\n"
      "train: {learning_rate: 0.1, adam_epsilon: 1e-7, global_batch_size: 6, output_dir: \"a b\\n\\\"#\", lr_scheduler_type: cosine}",
      {"--data.document_separator=%", "--data.packing=dense"});
  const std::string echo = to_yaml(run);
  const auto again = parse_run(echo, "echo", {}, RunUse::train);
  EXPECT_EQ(to_yaml(again), echo);
  EXPECT_EQ(again.layout.trainable, run.layout.trainable);
  EXPECT_EQ(again.train.output_dir, "a b\n\"#");
  EXPECT_EQ(again.train.optimizer.learning_rate, 0.1);
  EXPECT_EQ(again.devices.memory_bytes, 1'000'001);
  EXPECT_EQ(again.layout.wrap.min_parameters, 7);
  EXPECT_EQ(again.train.gradient_accumulation_steps, 3);
}

TEST(RunOptions, OptionsMadeWithoutAFileAreCheckedToo) {
  RunOptions run;
  run.data.max_length = 0;
  run.devices.count = 2;
  Faults faults;
  validate(run, RunUse::plan, faults);
  ASSERT_EQ(faults.list().size(), 3u);
  EXPECT_HOLDS(faults.list()[0], "data.max_length is 0");
  EXPECT_HOLDS(faults.list()[1], "layout.mesh has");
  EXPECT_HOLDS(faults.list()[2], "model is not given");
}

TEST(RunFields, EveryFieldTakesWhatItWrites) {
  for (const auto& field : run_fields()) {
    RunOptions run;
    if (field.key == "layout.wrap.min_parameters") run.layout.wrap.min_parameters = 3;
    if (field.key.ends_with("batch_size") || field.key.ends_with("accumulation_steps")) continue;  // 0, "not given", is never written
    const auto written = field.get(run);
    ASSERT_TRUE(written.has_value()) << field.key;
    Faults faults;
    EXPECT_EQ(field.set(run, parse_yaml(*written, "x", faults)), std::nullopt) << field.key << ": " << *written;
    EXPECT_FALSE(field.doc.empty()) << field.key;
  }
}

TEST(RunFields, TheListIsExactlyThis) {
  std::string keys;
  for (const auto& field : run_fields()) keys += field.key + " ";
  EXPECT_EQ(
      keys,
      "model data.train data.eval data.format data.document_separator data.max_length data.packing data.shuffle data.drop_last "
      "data.mask_prompt data.skip_bad_lines devices.kind devices.count devices.memory devices.cores layout.mesh.stage layout.mesh.data "
      "layout.mesh.shard layout.mesh.tensor layout.wrap layout.wrap.min_parameters layout.freeze layout.trainable layout.recompute "
      "layout.gather layout.prefetch layout.precision.parameters layout.precision.frozen layout.precision.compute "
      "layout.precision.reduce layout.precision.optimizer train.per_device_train_batch_size train.gradient_accumulation_steps "
      "train.global_batch_size train.per_device_eval_batch_size train.max_steps train.num_train_epochs train.learning_rate "
      "train.lr_scheduler_type train.warmup_steps train.decay_steps train.min_learning_rate train.optim train.adam_beta1 "
      "train.adam_beta2 train.adam_epsilon train.momentum train.weight_decay train.max_grad_norm train.nonfinite "
      "train.max_skipped_steps train.strict train.seed train.logging_steps train.eval_steps train.communication_timeout_s "
      "train.output_dir ");
}

TEST(RunFields, DocumentationAndHelpNameEveryKey) {
  for (const auto& field : run_fields()) {
    EXPECT_HOLDS(run_file_markdown(), "| `" + field.key + "` |");
    EXPECT_HOLDS(run_file_help(), "--" + field.key + "=");
  }
  EXPECT_HOLDS(run_file_markdown(), "learning_rate: 0.0002");
}

TEST(RunFields, TheExampleOfTheDocumentationIsARunFile) {
  const std::string text = run_file_markdown();
  const size_t begin = text.find("```yaml\n") + 8;
  // Its files are not there, and that is all that is wrong with it.
  try {
    parse_run(text.substr(begin, text.find("```\n", begin) - begin), "example", {}, RunUse::plan);
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()).find("\n"), std::string::npos) << error.what();
    EXPECT_HOLDS(std::string(error.what()), "model is \"models/smollm2-135m\", which does not exist");
  }
}

}  // namespace
}  // namespace scantling
