// Data files read with real tokenizers: the start token once, the ids of an independent implementation, and answers found in templates.
#include "scantling/data/dataset_encoder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scantling/core/error.h"
#include "tests/data/data_files.h"
#include "tests/data/fake_encoder.h"

namespace scantling {
namespace {

using Ids = std::vector<int32_t>;

// A folder with a tokenizer of the 256 bytes, <s> = 256, </s> = 257 and the marks of the ChatML template.
void write_byte_tokenizer(const TestFolder& folder, bool add_bos, const std::string& chat_template = "") {
  nlohmann::json vocabulary;
  char32_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    const char32_t c = printable ? static_cast<char32_t>(byte) : next++;
    const std::string text =
        c < 0x80 ? std::string{static_cast<char>(c)} : std::string{static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
    vocabulary[text] = byte;
  }
  nlohmann::json added = nlohmann::json::array();
  int id = 256;
  for (const auto* content : {"<s>", "</s>", "<|im_start|>", "<|im_end|>"}) {
    added.push_back({{"id", id++},
                     {"content", content},
                     {"special", true},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"single_word", false}});
  }
  const nlohmann::json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const nlohmann::json tokenizer = {{"version", "1.0"},
                                    {"added_tokens", added},
                                    {"normalizer", nullptr},
                                    {"pre_tokenizer", byte_level},
                                    {"post_processor", nullptr},
                                    {"decoder", byte_level},
                                    {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", nlohmann::json::array()}}}};
  nlohmann::json settings = {
      {"add_bos_token", add_bos}, {"bos_token", "<s>"}, {"eos_token", chat_template.empty() ? "</s>" : "<|im_end|>"}};
  if (!chat_template.empty()) settings["chat_template"] = chat_template;
  folder.write("tokenizer.json", tokenizer.dump());
  folder.write("tokenizer_config.json", settings.dump());
}

const std::string chatml =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

DataOptions options_of(DataFormat format) {
  DataOptions options;
  options.format = format;
  return options;
}

TEST(DatasetEncoder, OneStartTokenWhateverTheTextBeginsWith) {
  const TestFolder folder;
  const auto rows = folder.write("d.jsonl", "{\"text\": \"hi\"}\n{\"text\": \"<s>hi\"}\n{\"text\": \"\"}\n");
  for (const bool add_bos : {true, false}) {
    write_byte_tokenizer(folder, add_bos);
    const auto data = TokenDataset::load(dataset_source(rows, options_of(DataFormat::jsonl), folder.path(""), 260));
    EXPECT_EQ(ids_of(data.row(0)), add_bos ? (Ids{256, 'h', 'i', 257}) : (Ids{'h', 'i', 257}));
    EXPECT_EQ(ids_of(data.row(1)), (Ids{256, 'h', 'i', 257}));
    EXPECT_EQ(ids_of(data.row(2)), add_bos ? (Ids{256, 257}) : Ids{257});
  }
}

TEST(DatasetEncoder, AnswersOfATemplateAreLearnedWithTheirEndToken) {
  const TestFolder folder;
  write_byte_tokenizer(folder, true, chatml);
  const auto rows = folder.write("c.json", R"([{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "bc"}]}])");
  const auto data = TokenDataset::load(dataset_source(rows, options_of(DataFormat::chat), folder.path(""), 260));
  ASSERT_EQ(data.rows(), 1);
  const auto ids = ids_of(data.row(0));
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 256), 0) << "the template writes no start token";
  Ids learned;
  for (const int32_t label : data.row(0).labels) {
    if (label != -100) learned.push_back(label);
  }
  ASSERT_GE(learned.size(), 3u);
  EXPECT_EQ(Ids(learned.begin(), learned.begin() + 3), (Ids{'b', 'c', 259}));
  EXPECT_LE(learned.size(), 4u) << "at most the line end after the end token besides";
}

TEST(DatasetEncoder, TemplateDecidesTheFormOfInstructions) {
  const TestFolder folder;
  const auto rows = folder.write("i.json", R"([{"instruction": "a", "input": "", "output": "b"}])");
  write_byte_tokenizer(folder, false, chatml);
  const auto chat = TokenDataset::load(dataset_source(rows, options_of(DataFormat::instruct), folder.path(""), 260));
  EXPECT_EQ(chat.row(0).ids[0], 258);
  EXPECT_TRUE(chat.notices().empty());
  write_byte_tokenizer(folder, false);
  const auto alpaca = TokenDataset::load(dataset_source(rows, options_of(DataFormat::instruct), folder.path(""), 260));
  EXPECT_EQ(alpaca.row(0).ids[0], 'B');
  ASSERT_EQ(alpaca.notices().size(), 1u);
  EXPECT_NE(alpaca.notices()[0].find("Alpaca's form"), std::string::npos);
}

TEST(DatasetEncoder, UnknownTemplateIsRefusedOnlyWhereItIsNeeded) {
  const TestFolder folder;
  write_byte_tokenizer(folder, false, "{{ something else }}");
  const auto text = folder.write("d.txt", "abc");
  EXPECT_EQ(TokenDataset::load(dataset_source(text, options_of(DataFormat::text), folder.path(""), 260)).rows(), 1);
  const auto rows = folder.write("i.json", R"([{"instruction": "a", "output": "b"}])");
  EXPECT_NE(
      failure_of<ConfigError>([&] { TokenDataset::load(dataset_source(rows, options_of(DataFormat::instruct), folder.path(""), 260)); }),
      "");
}

TEST(DatasetEncoder, TokenOutsideTheModelIsRefused) {
  const TestFolder folder;
  write_byte_tokenizer(folder, true);
  const auto text = folder.write("d.txt", "abc");
  const auto message =
      failure_of<DataError>([&] { TokenDataset::load(dataset_source(text, options_of(DataFormat::text), folder.path(""), 256)); });
  EXPECT_NE(message.find("the token 256 is outside the model's vocabulary of 256 tokens"), std::string::npos) << message;
}

TEST(DatasetEncoder, IdsEqualTheReferenceStream) {
  const auto reference = shared_data("reference/stories260k/train_ids.json");
  if (!std::filesystem::exists(reference)) GTEST_SKIP() << "shared data is not beside the sources: " << reference;
  const TestFolder folder;
  auto options = options_of(DataFormat::text);
  options.max_length = 1 << 20;
  const auto text = folder.write("d.txt", bytes_of(shared_data("text/tinyshakespeare.txt")).substr(0, 70000));
  const auto data = TokenDataset::load(dataset_source(text, options, shared_data("checkpoints/stories260K-hf"), 512));
  Ids wanted;
  const auto stored = nlohmann::json::parse(bytes_of(reference));
  for (const auto& batch : stored["batches"]) {
    for (const auto& row : batch) {
      for (const auto& id : row) wanted.push_back(id);
    }
  }
  ASSERT_EQ(wanted.size(), 20480u);
  const auto ids = ids_of(data.row(0));
  ASSERT_GT(ids.size(), wanted.size());
  EXPECT_EQ(ids[0], 1);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), ids.begin() + 1));
}

}  // namespace
}  // namespace scantling
