// What a user can get wrong: each fault is told in the product's words with the exit status 2 (3: does not fit), before anything is
// written, and with --json in exactly one document on standard output.
#include <gtest/gtest.h>

#include "tests/cli/command.h"

namespace scantling::test {
namespace {

struct Wrong {
  std::vector<std::string> words;  // RUN and MODEL stand for the paths
  std::string told;
  int status = 2;
};

std::vector<std::string> filled(const Command& command, std::vector<std::string> words) {
  for (auto& word : words) {
    if (word == "RUN") word = command.run_file();
    if (word == "MODEL") word = command.path("model");
  }
  return words;
}

void expect_told(const Command& command, const Wrong& wrong) {
  auto words = filled(command, wrong.words);
  SCOPED_TRACE(testing::PrintToString(words));
  words.push_back("--json");
  const auto answer = command.run(words);
  EXPECT_EQ(answer.status, wrong.status) << answer.err;
  EXPECT_TRUE(contains(answer.err, wrong.told)) << answer.err;
  EXPECT_TRUE(answer.err.starts_with("scantling: ")) << answer.err;
  EXPECT_FALSE(contains(answer.err, "c10") || contains(answer.err, "frame #") || contains(answer.err, "internal error")) << answer.err;
  EXPECT_TRUE(nlohmann::json::accept(answer.out)) << answer.out;
  EXPECT_FALSE(std::filesystem::exists(command.path("out")));
}

TEST(Faults, UnreadableCommandLinesAreTold) {
  const Command command;
  const std::vector<Wrong> all{{{}, "No command is given"},
                               {{"pln", "RUN"}, "The nearest is plan"},
                               {{"import", "onnx"}, "`scantling import` has gguf"},
                               {{"plan"}, "RUN is required"},
                               {{"plan", "RUN", "extra"}, "\"extra\" is one argument too many"},
                               {{"plan", "RUN", "--overwrite"}, "--overwrite: is no flag of this command"},
                               {{"plan", "RUN", "--train.seed", "1"}, "Write --train.seed=VALUE"},
                               {{"train", "RUN", "--overwrite", "--overwrite"}, "--overwrite: At Most 1"},
                               {{"explain", "RUN", "lm_head.weight", "--program"}, "NAME and --program are both given"},
                               {{"import", "gguf", "a.gguf", "b", "--dtype", "int32"}, "--dtype (int32)"}};
  for (const auto& wrong : all) expect_told(command, wrong);
}

TEST(Faults, RunFilesThatCannotBeMeantAreTold) {
  const Command command;
  const std::vector<Wrong> all{{{"plan", "missing.yaml"}, "missing.yaml: cannot be read"},
                               {{"plan", "/tmp"}, "/tmp: cannot be read"},
                               {{"plan", command.write("utf16.yaml", "\xff\xfem\0")}, "byte 0 is not UTF-8"},
                               {{"plan", command.write("nul.yaml", "model: \"a\\0b\"\n")}, "the character NUL"},
                               {{"plan", "RUN", "--train.weigth_decay=1"}, "train.weight_decay"},
                               {{"plan", "RUN", "--train.num_train_epochs=1e300", "--train.max_steps=0"}, "at most 1000000"},
                               {{"plan", "RUN", "--train.communication_timeout_s=1e300"}, "from 0.001 to 1000000 seconds"},
                               {{"plan", "RUN", "--train.global_batch_size=1000000"}, "gradient_accumulation_steps is 500000"},
                               {{"plan", "RUN", "--layout.wrap=LlamaLayer"}, "no layer class \"LlamaLayer\""},
                               {{"plan", "RUN", "--layout.freeze=model.layer.*"}, "matches none of the"},
                               {{"plan", "RUN", "--data.max_length=129"}, "beyond the position table"}};
  for (const auto& wrong : all) expect_told(command, wrong);
}

TEST(Faults, RunsThatCannotEndWellAreRefusedAtTheStart) {
  const Command command;
  const std::string file = command.write("file", "x"), unlabelled = command.write("none.jsonl", "{\"input_ids\": [1]}\n");
  const std::vector<Wrong> all{{{"train", "RUN", "--layout.freeze=*"}, "There is nothing to train"},
                               {{"train", "RUN", "--data.train=" + command.write("empty.jsonl", "\n\n")}, "holds no document"},
                               {{"train", "RUN", "--train.output_dir=" + file}, file + " is a file"},
                               {{"train", "RUN", "--train.output_dir=" + file + "/inside"}, file + " is a file"},
                               {{"train", "RUN", "--train.output_dir=" + command.path(std::string(300, 'a'))}, "cannot be used"},
                               {{"eval", "RUN", "--data.eval=" + unlabelled}, "None of the 1 rows"},
                               {{"train", "RUN", "--devices.memory=1KiB"}, "The run does not fit", 3},
                               {{"eval", "RUN", "--devices.memory=1KiB"}, "The run does not fit", 3}};
  for (const auto& wrong : all) expect_told(command, wrong);
}

TEST(Faults, ModelsThatDoNotHoldTogetherAreTold) {
  const Command command;
  auto deep = tiny_llama(), rope = tiny_llama();
  deep["num_hidden_layers"] = 1'000'000'000;
  rope["rope_scaling"] = {{"rope_type", "foo"}, {"factor", 2}};
  std::filesystem::create_directories(command.path("folder/config.json"));
  const auto renamed = write_model(command.path("renamed"), tiny_llama(), [](Weights& weights) {
    auto node = weights.extract("model.norm.weight");
    node.key() = "model.gnorm.weight";
    weights.insert(std::move(node));
  });
  const std::vector<Wrong> all{{{"plan", "RUN", "--model=" + command.write("deep.json", deep.dump())}, "num_hidden_layers is 1000000000"},
                               {{"plan", "RUN", "--model=" + command.write("rope.json", rope.dump())}, "rope_type is \"foo\""},
                               {{"plan", "RUN", "--model=" + command.path("folder")}, "must be a readable file"},
                               {{"train", "RUN", "--model=" + renamed}, "\"model.gnorm.weight\""},
                               {{"checkpoint", "inspect", command.write("short.safetensors", "1234567")}, "has 7 bytes"},
                               {{"checkpoint", "inspect", command.path("missing")}, "cannot be opened"},
                               {{"tokenize", command.path("renamed"), "--text", "a"}, "holds no tokenizer"},
                               {{"generate", command.path("folder"), "--prompt", "a", "--seed", "-1"}, "-1 is negative"}};
  for (const auto& wrong : all) expect_told(command, wrong);
}

TEST(Faults, WeightsThatAreWholeNumbersAreRefusedBeforeTraining) {
  const Command command;
  const auto model = write_model(command.path("whole"), tiny_llama());
  auto bytes = bytes_of(model + "/model.safetensors");
  const auto at = bytes.find("\"F32\"");
  bytes.replace(at, 5, "\"I32\"");
  std::ofstream(model + "/model.safetensors", std::ios::binary) << bytes;
  expect_told(command, {{"train", "RUN", "--model=" + model}, "Weights are floating numbers"});
}

TEST(Faults, WithoutJsonStandardOutputStaysEmpty) {
  const Command command;
  const auto answer = command.run({"plan", command.run_file(), "--layout.wrap=LlamaLayer"});
  EXPECT_EQ(answer.status, 2);
  EXPECT_EQ(answer.out, "");
}

TEST(Faults, RemediesOfAnEvaluationNeedLessThanItDoes) {
  const Command command;
  const auto answer = command.run({"eval", command.run_file(), "--devices.memory=1KiB", "--train.per_device_eval_batch_size=4"});
  EXPECT_TRUE(contains(answer.err, "train.per_device_eval_batch_size=1")) << answer.err;
  EXPECT_FALSE(contains(answer.err, "recompute")) << answer.err;
}

}  // namespace
}  // namespace scantling::test
