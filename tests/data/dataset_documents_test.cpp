// Formats: which tokens a document has, which of them are labels, and how a wrong record is named.
#include "scantling/data/dataset_documents.h"

#include <gtest/gtest.h>

#include "scantling/core/error.h"
#include "tests/data/data_files.h"
#include "tests/data/fake_encoder.h"

namespace scantling {
namespace {

struct Outcome {
  std::vector<std::string> ids;
  std::vector<std::string> labels;
};

Outcome documents(const std::string& path, const DataOptions& options, const TextEncoder& encoder) {
  Outcome outcome;
  std::vector<std::string> notices;
  const auto add = [&](const Document& document) {
    outcome.ids.push_back(shown(document.ids));
    outcome.labels.push_back(shown(document.labels));
  };
  read_documents(path, options, fake_vocabulary, encoder, add, notices);
  return outcome;
}

Outcome documents_of(DataFormat format, const std::string& content, const TextEncoder& encoder = fake_encoder(), bool mask_prompt = true) {
  const TestFolder folder;
  DataOptions options;
  options.format = format;
  options.mask_prompt = mask_prompt;
  return documents(folder.write("data", content), options, encoder);
}

using Texts = std::vector<std::string>;

TEST(Documents, TextFileIsOneDocumentBetweenStartAndEnd) {
  EXPECT_EQ(documents_of(DataFormat::text, "ab\n", fake_encoder(true)).ids, Texts{"^ab\n$"});
  EXPECT_EQ(documents_of(DataFormat::text, "ab\n", fake_encoder(false, false)).ids, Texts{"ab\n"});
  EXPECT_EQ(documents_of(DataFormat::text, "", fake_encoder(true)).ids, Texts{});
}

TEST(Documents, JsonlKeepsEmptyTexts) {
  const auto outcome = documents_of(DataFormat::jsonl, "{\"text\": \"ab\", \"id\": 3}\n{\"text\": \"\"}\n", fake_encoder(true));
  EXPECT_EQ(outcome.ids, (Texts{"^ab$", "^$"}));
  EXPECT_EQ(outcome.labels, outcome.ids);
}

TEST(Documents, TokensAreTakenAsTheyAre) {
  const auto outcome =
      documents_of(DataFormat::tokens, "{\"input_ids\": [97, 98, 257]}\n{\"input_ids\": [97, 98], \"labels\": [-100, 99]}\n", {});
  EXPECT_EQ(outcome.ids, (Texts{"ab$", "ab"}));
  EXPECT_EQ(outcome.labels, (Texts{"ab$", "_c"}));
}

TEST(Documents, WrongTokenRowsAreNamed) {
  const auto fault = [](const std::string& row) {
    return failure_of<DataError>([&] { documents_of(DataFormat::tokens, "{\"input_ids\": [1]}\n" + row, {}); });
  };
  EXPECT_NE(fault(R"({"input_ids": [1, 2], "labels": [1]})").find("data line 2: has 2 \"input_ids\" and 1 \"labels\""), std::string::npos);
  EXPECT_NE(fault(R"({"input_ids": [1, 260]})").find("line 2: the token 260 is outside the model's vocabulary of 260"), std::string::npos);
  EXPECT_NE(fault(R"({"input_ids": [-100]})").find("the token -100 is outside"), std::string::npos);
  EXPECT_NE(fault(R"({"input_ids": [1], "labels": [-1]})").find("the label -1 is outside"), std::string::npos);
  EXPECT_NE(fault(R"({"input_ids": [1.5]})").find("holds 1.5 and not whole numbers only"), std::string::npos);
  EXPECT_NE(fault(R"({"input_ids": 7})").find("is number and not a list"), std::string::npos);
  EXPECT_NE(fault(R"([1, 2])").find("is array and not an object"), std::string::npos);
  EXPECT_NE(fault(R"({"input_ids": [123456789012345678901234567890]})").find("not whole numbers"), std::string::npos);
}

TEST(Documents, InstructionWithoutTemplateHasAlpacasForm) {
  const auto outcome =
      documents_of(DataFormat::instruct, R"([{"instruction": "Add.", "input": "1 2", "output": "3"}])", fake_encoder(true));
  ASSERT_EQ(outcome.ids.size(), 1u);
  EXPECT_EQ(outcome.ids[0], "^" + alpaca_prompt("Add.", "1 2") + "3$");
  EXPECT_EQ(outcome.labels[0], std::string(outcome.ids[0].size() - 2, '_') + "3$");
}

TEST(Documents, InstructionWithTemplateIsAConversation) {
  const std::string rows =
      "{\"instruction\": \"Add.\", \"input\": \"1 2\", \"output\": \"3\"}\n{\"instruction\": \"Hi\", \"input\": \"\", \"output\": \"Ho\"}";
  const auto outcome = documents_of(DataFormat::instruct, rows, fake_encoder(true, true, true));
  EXPECT_EQ(outcome.ids, (Texts{"<user:Add.\n1 2><assistant:3>", "<user:Hi><assistant:Ho>"}));
  EXPECT_EQ(outcome.labels[1], "____________________Ho>");
}

TEST(Documents, EveryAnswerOfAConversationIsLearned) {
  const std::string row = R"({"messages": [{"role": "user", "content": "a"}, )"
                          R"({"role": "assistant", "content": "b"}, )"
                          R"({"role": "user", "content": [{"type": "text", "value": "c"}]}, )"
                          R"({"role": "assistant", "content": ""}]})";
  const auto outcome = documents_of(DataFormat::chat, row, fake_encoder(true, true, true));
  EXPECT_EQ(outcome.ids, Texts{"<user:a><assistant:b><user:c><assistant:>"});
  EXPECT_EQ(outcome.labels, Texts{"___________________b>___________________>"});
  EXPECT_EQ(documents_of(DataFormat::chat, row, fake_encoder(true, true, true), false).labels, outcome.ids);
}

TEST(Documents, LossWeightLeavesAnAnswerOut) {
  const std::string row = R"({"messages": [{"role": "user", "content": "a", "loss_weight": 0.0}, )"
                          R"({"role": "assistant", "content": "b", "loss_weight": 0}, )"
                          R"({"role": "assistant", "content": "c", "loss_weight": 1.0}]})";
  const auto outcome = documents_of(DataFormat::chat, row, fake_encoder(false, true, true));
  EXPECT_EQ(outcome.ids, Texts{"<user:a><assistant:b><assistant:c>"});
  EXPECT_EQ(outcome.labels, Texts{"________________________________c>"});
}

TEST(Documents, WrongConversationsAreNamed) {
  const auto fault = [](const std::string& row) {
    return failure_of<DataError>([&] { documents_of(DataFormat::chat, row, fake_encoder(false, true, true)); });
  };
  EXPECT_NE(fault(R"({"messages": []})").find("line 1: \"messages\" is not a list of messages"), std::string::npos);
  EXPECT_NE(fault(R"({"messages": [{"content": "a"}]})").find("has no \"role\""), std::string::npos);
  EXPECT_NE(fault(R"({"messages": [{"role": "user", "content": [{"type": "image", "url": "x"}]}]})").find("not text"), std::string::npos);
  EXPECT_NE(fault(R"({"messages": [{"role": "user", "content": "a", "loss_weight": 1}]})").find("loss_weight"), std::string::npos);
  EXPECT_NE(fault(R"({"messages": [{"role": "assistant", "content": "a", "loss_weight": 0.5}]})").find("loss_weight"), std::string::npos);
}

TEST(Documents, ChatNeedsATemplate) {
  const auto message = failure_of<DataError>([] { documents_of(DataFormat::chat, "{\"messages\": []}"); });
  EXPECT_NE(message.find("has no chat template"), std::string::npos) << message;
}

TEST(Documents, ATokenOverTheEndOfThePromptIsPartOfTheAnswer) {
  auto encoder = fake_encoder(false, false);
  encoder.encode = [](std::string_view text, bool) {  // "\nx" is one token, 200
    auto ids = fake_ids(text);
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      if (ids[i] == '\n' && ids[i + 1] == 'x') ids.erase(ids.begin() + static_cast<int64_t>(i)), ids[i] = 200;
    }
    return ids;
  };
  const auto outcome = documents_of(DataFormat::instruct, R"([{"instruction": "Q", "output": "xy"}])", encoder);
  const auto& labels = outcome.labels.at(0);
  EXPECT_EQ(labels.substr(labels.find_last_of('_') + 1), "\xC8y");
}

TEST(Documents, InstructionFilesAreReadWhole) {
  const std::vector<std::pair<std::string, size_t>> files = {{"instruct/alpaca_en_demo.json", 999}, {"instruct/identity.json", 91}};
  for (const auto& [name, count] : files) {
    if (!std::filesystem::exists(shared_data(name))) GTEST_SKIP() << "shared data is not beside the sources: " << shared_data(name);
    DataOptions options;
    options.format = DataFormat::instruct;
    const auto outcome = documents(shared_data(name), options, fake_encoder());
    EXPECT_EQ(outcome.ids.size(), count) << name;
    for (const auto& labels : outcome.labels) EXPECT_TRUE(labels.ends_with('$') && labels.starts_with('_')) << labels;
  }
}

TEST(Documents, ConversationFileIsReadWhole) {
  const auto file = shared_data("instruct/v1_sft_demo.jsonl");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "shared data is not beside the sources: " << file;
  DataOptions options;
  options.format = DataFormat::chat;
  const auto outcome = documents(file, options, fake_encoder(false, true, true));
  ASSERT_EQ(outcome.ids.size(), 500u);
  EXPECT_EQ(outcome.ids[0],
            "<user:hi><assistant:Hello! I am {{name}}, an AI assistant developed by {{author}}. How can I assist you today?>");
  EXPECT_EQ(outcome.labels[0].substr(0, 22), "____________________He");
}

TEST(Documents, OtherFieldsAreNamedByWhatIsMissing) {
  const auto file = shared_data("instruct/sft_test.json");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "shared data is not beside the sources: " << file;
  DataOptions options;
  options.format = DataFormat::instruct;
  const auto message = failure_of<DataError>([&] { documents(file, options, fake_encoder()); });
  EXPECT_NE(message.find("sft_test.json line 2: has no \"instruction\""), std::string::npos) << message;
}

}  // namespace
}  // namespace scantling
