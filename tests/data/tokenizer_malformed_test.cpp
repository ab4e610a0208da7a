// Tokenizer files that are wrong: each is refused when it is loaded, with the file and the key in the message.
#include <gtest/gtest.h>

#include <functional>

#include "scantling/core/error.h"
#include "tiny_tokenizers.h"

namespace scantling {
namespace {

using nlohmann::json;

struct Case {
  std::string name;
  std::function<void(json&)> damage;
  std::string told;  // must be in the message
};

void PrintTo(const Case& damaged, std::ostream* out) { *out << damaged.name; }

class MalformedTokenizer : public testing::TestWithParam<Case> {};

TEST_P(MalformedTokenizer, IsRefusedWithFileAndKey) {
  json document = byte_level_document();
  GetParam().damage(document);
  const std::string message = failure_of<ConfigError>([&] { tokenizer_from({{"tokenizer.json", document.dump()}}); });
  EXPECT_NE(message.find("tokenizer.json"), std::string::npos) << message;
  EXPECT_NE(message.find(GetParam().told), std::string::npos) << message;
}

const std::vector<Case> cases = {
    {"no_model", [](json& d) { d.erase("model"); }, "has no \"model\""},
    {"no_vocabulary", [](json& d) { d["model"].erase("vocab"); }, "model has no \"vocab\""},
    {"no_merges", [](json& d) { d["model"].erase("merges"); }, "model has no \"merges\""},
    {"model_is_a_list", [](json& d) { d["model"] = json::array(); }, "must be an object"},
    {"other_model", [](json& d) { d["model"]["type"] = "WordPiece"; }, "WordPiece"},
    {"id_is_text", [](json& d) { d["model"]["vocab"]["he"] = "5"; }, "model.vocab[\"he\"]"},
    {"id_is_negative", [](json& d) { d["model"]["vocab"]["he"] = -5; }, "model.vocab[\"he\"]"},
    {"id_is_huge", [](json& d) { d["model"]["vocab"]["he"] = 2000000000; }, "2000000000"},
    {"id_is_given_twice", [](json& d) { d["model"]["vocab"]["he"] = d["model"]["vocab"]["ll"]; }, "both"},
    {"merge_of_unknown_part", [](json& d) { d["model"]["merges"].push_back("he xy"); }, "model.merges[5] needs the token \"xy\""},
    {"merge_makes_unknown", [](json& d) { d["model"]["merges"].push_back("he he"); }, "model.merges[5] needs the token \"hehe\""},
    {"merge_of_three",
     [](json& d) {
       d["model"]["merges"].push_back({"h", "e", "l"});
     },
     "model.merges[5] has 3 parts"},
    {"merge_of_one", [](json& d) { d["model"]["merges"].push_back("he"); }, "model.merges[5]"},
    {"merge_is_a_number", [](json& d) { d["model"]["merges"].push_back(7); }, "model.merges[5] is number"},
    {"unknown_token_is_unknown", [](json& d) { d["model"]["unk_token"] = "<unk>"; }, "model.unk_token"},
    {"word_suffix", [](json& d) { d["model"]["end_of_word_suffix"] = "</w>"; }, "model.end_of_word_suffix"},
    {"added_token_elsewhere", [](json& d) { d["added_tokens"][0]["id"] = 9; }, "\"<s>\""},
    {"added_token_on_another", [](json& d) { d["added_tokens"].push_back(special_entry("<x>", 9)); }, "\"<x>\""},
    {"added_token_without_id", [](json& d) { d["added_tokens"][0].erase("id"); }, "added_tokens[0] has no \"id\""},
    {"added_token_without_text", [](json& d) { d["added_tokens"][0]["content"] = ""; }, "added_tokens[0]"},
    {"flag_is_a_number", [](json& d) { d["added_tokens"][0]["special"] = 1; }, "added_tokens[0].special is number"},
    {"normalizer_kind",
     [](json& d) {
       d["normalizer"] = {{"type", "NFC"}};
     },
     "normalizer has the type \"NFC\""},
    {"pre_tokenizer_kind",
     [](json& d) {
       d["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
     },
     "BertPreTokenizer"},
    {"decoder_kind",
     [](json& d) {
       d["decoder"] = {{"type", "CTC"}};
     },
     "decoder has the type \"CTC\""},
    {"post_processor_kind",
     [](json& d) {
       d["post_processor"] = {{"type", "BertProcessing"}};
     },
     "BertProcessing"},
    {"pattern_does_not_compile",
     [](json& d) {
       d["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}};
     },
     "pre_tokenizer.pattern"},
    {"after_byte_level",
     [](json& d) {
       d["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {{{"type", "ByteLevel"}}, {{"type", "Digits"}}}}};
     },
     "pre_tokenizer.pretokenizers[1]"},
};

INSTANTIATE_TEST_SUITE_P(Files, MalformedTokenizer, testing::ValuesIn(cases), [](const auto& info) { return info.param.name; });

std::string message_for(const std::vector<std::pair<std::string, std::string>>& files) {
  return failure_of<ConfigError>([&] { tokenizer_from(files); });
}

TEST(MalformedTokenizerFolder, NamesWhatIsMissing) {
  EXPECT_NE(message_for({}).find("tokenizer.json, vocab.json with merges.txt, or tokenizer.model"), std::string::npos);
  EXPECT_NE(message_for({{"vocab.json", "{}"}}).find("holds no tokenizer"), std::string::npos);
}

TEST(MalformedTokenizerFolder, RefusesFilesThatAreCutOff) {
  const std::string document = byte_level_document().dump();
  EXPECT_NE(message_for({{"tokenizer.json", document.substr(0, document.size() / 2)}}).find("is not JSON"), std::string::npos);
  EXPECT_NE(message_for({{"tokenizer.json", document}, {"tokenizer_config.json", "[]"}}).find("tokenizer_config.json"), std::string::npos);
  EXPECT_NE(message_for({{"tokenizer.model", ""}}).find("is not a SentencePiece model"), std::string::npos);
  EXPECT_NE(message_for({{"tokenizer.model", "no model"}}).find("is not a SentencePiece model"), std::string::npos);
}

TEST(MalformedTokenizerFolder, RefusesSettingsItCannotFollow) {
  const auto with_config = [](const std::string& config) {
    return message_for({{"tokenizer.json", byte_level_document().dump()}, {"tokenizer_config.json", config}});
  };
  EXPECT_NE(with_config(R"({"eos_token": "<end>"})").find("\"<end>\""), std::string::npos);
  EXPECT_NE(with_config(R"({"add_eos_token": true})").find("add_eos_token"), std::string::npos);
  EXPECT_NE(with_config(R"({"add_bos_token": true})").find("bos_token"), std::string::npos);
  EXPECT_NE(with_config(R"({"add_bos_token": "yes"})").find("add_bos_token is string"), std::string::npos);
  EXPECT_NE(with_config(R"({"added_tokens_decoder": {"x": {"content": "<x>"}}})").find("added_tokens_decoder"), std::string::npos);
}

}  // namespace
}  // namespace scantling
