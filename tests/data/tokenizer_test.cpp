// What every tokenizer keeps to, on small vocabularies: one start token, special tokens only when asked for, nothing lost, exact bytes.
#include <gtest/gtest.h>

#include <thread>

#include "scantling/core/error.h"
#include "tiny_tokenizers.h"

namespace scantling {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;
using Strings = std::vector<std::string>;

std::unique_ptr<Tokenizer> byte_level(const json& config = {{"bos_token", "<s>"}, {"eos_token", "</s>"}}) {
  return tokenizer_from({{"tokenizer.json", byte_level_document().dump()}, {"tokenizer_config.json", config.dump()}});
}

// Both forms of the SentencePiece-like tokenizer.
std::vector<std::unique_ptr<Tokenizer>> sentencepiece_like() {
  const std::string config = json{{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"add_bos_token", false}}.dump();
  std::vector<std::unique_ptr<Tokenizer>> both;
  both.push_back(tokenizer_from({{"tokenizer.json", sentencepiece_document().dump()}, {"tokenizer_config.json", config}}));
  both.push_back(tokenizer_from({{"tokenizer.model", sentencepiece_model()}, {"tokenizer_config.json", config}}));
  return both;
}

TEST(Tokenizer, PutsExactlyOneStartToken) {
  const auto with = byte_level({{"bos_token", "<s>"}, {"add_bos_token", true}});
  for (const char* text : {"hello", "<s>hello", ""}) {
    const Ids ids = with->encode(text);
    EXPECT_EQ(std::count(ids.begin(), ids.end(), 0), 1) << text;
    EXPECT_EQ(ids.at(0), 0) << text;
  }
  EXPECT_EQ(with->encode("<s>", {.parse_special = false}).size(), 4u);  // a start token and three characters
  EXPECT_EQ(with->encode("hello", {.add_bos = false}).size(), 1u);
}

TEST(Tokenizer, PutsNoStartTokenIfToldOrByDefault) {
  EXPECT_TRUE(byte_level({{"bos_token", "<s>"}, {"add_bos_token", false}})->encode("").empty());
  EXPECT_TRUE(byte_level({{"bos_token", "<s>"}})->encode("").empty());
  EXPECT_EQ(byte_level({{"bos_token", "<s>"}, {"tokenizer_class", "LlamaTokenizerFast"}})->encode(""), Ids{0});
  EXPECT_EQ(tokenizer_from({{"tokenizer.model", sentencepiece_model()}})->encode(""), Ids{1});
}

TEST(Tokenizer, FollowsThePostProcessorUnlessToldOtherwise) {
  json document = byte_level_document();
  document["post_processor"] = {{"type", "TemplateProcessing"},
                                {"single", {{{"SpecialToken", {{"id", "<s>"}}}}, {{"Sequence", {{"id", "A"}}}}}},
                                {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {0}}}}}}};
  EXPECT_EQ(tokenizer_from({{"tokenizer.json", document.dump()}})->encode(""), Ids{0});
  const auto told = tokenizer_from({{"tokenizer.json", document.dump()}, {"tokenizer_config.json", R"({"add_bos_token": false})"}});
  EXPECT_TRUE(told->encode("").empty());
}

TEST(Tokenizer, MergesByRankWithinWords) {
  const auto tokenizer = byte_level();
  EXPECT_EQ(pieces_of(*tokenizer, tokenizer->encode("hello hello hell")), (Strings{"hello", "Ġhello", "Ġ", "hell"}));
}

TEST(Tokenizer, ByteLevelRoundTripsEveryByteAndText) {
  const auto tokenizer = byte_level();
  std::string text = "naïve 中文 😀  a\r\n\t";
  for (char c = 0; c >= 0 && c < 127; ++c) text += c;
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  const Ids half = tokenizer->encode("é");
  ASSERT_EQ(half.size(), 2u);
  EXPECT_EQ(tokenizer->decode(std::span(half).first(1)), "\xC3");
}

TEST(Tokenizer, SentencePieceRoundTripsInBothForms) {
  for (const auto& tokenizer : sentencepiece_like()) {
    for (const char* text : {"This", "a  b", "\nfoo", "😀", "a  ", "", " ", "  This  ", "I love you."}) {
      EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
    }
    EXPECT_EQ(pieces_of(*tokenizer, tokenizer->encode("This")), Strings{"▁This"});
    EXPECT_EQ(pieces_of(*tokenizer, tokenizer->encode("\nfoo")), (Strings{"▁", "<0x0A>", "f", "o", "o"}));
    EXPECT_EQ(pieces_of(*tokenizer, tokenizer->encode("é")), (Strings{"▁", "<0xC3>", "<0xA9>"}));
  }
}

TEST(Tokenizer, ReadsSpecialTokensOnlyWhenAsked) {
  for (const auto& tokenizer : sentencepiece_like()) {
    EXPECT_EQ(tokenizer->encode("you.</s>").back(), 2);
    const Ids plain = tokenizer->encode("you.</s>", {.parse_special = false});
    EXPECT_EQ(std::count(plain.begin(), plain.end(), 2), 0);
    EXPECT_EQ(tokenizer->decode(plain), "you.</s>");
    EXPECT_EQ(tokenizer->decode(tokenizer->encode("you.</s>"), true), "you.");
    EXPECT_TRUE(tokenizer->is_special(2));
    EXPECT_FALSE(tokenizer->is_special(262));
  }
}

TEST(Tokenizer, LegacySaysWhetherTextAfterASpecialTokenGetsAWordMark) {
  const auto load = [](bool legacy) {
    const json config = {{"legacy", legacy}, {"add_bos_token", false}};
    return tokenizer_from({{"tokenizer.model", sentencepiece_model()}, {"tokenizer_config.json", config.dump()}});
  };
  const auto old = load(true), fresh = load(false);
  EXPECT_EQ(pieces_of(*old, old->encode("a</s>This")), (Strings{"▁", "a", "</s>", "▁This"}));
  EXPECT_EQ(pieces_of(*fresh, fresh->encode("a</s>This")), (Strings{"▁", "a", "</s>", "This"}));
  for (const char* text : {"a</s>This", "a</s> This", "This"}) {
    EXPECT_EQ(old->decode(old->encode(text)), text);
    EXPECT_EQ(fresh->decode(fresh->encode(text)), text);
  }
}

TEST(Tokenizer, LongTextsAreTheSameWholeAndByLines) {
  std::string text, shorter;
  for (int i = 0; i < 3000; ++i) text += i % 7 == 0 ? "This is \n" : "\n  a b  ";
  const auto both = sentencepiece_like();
  EXPECT_EQ(both[0]->encode(text), both[1]->encode(text));
  EXPECT_EQ(both[1]->decode(both[1]->encode(text)), text);
}

TEST(Tokenizer, AddedTokensTakeSpaceAwayAsTheirFlagsSay) {
  json document = byte_level_document();
  document["added_tokens"].push_back({{"id", 263}, {"content", "<m>"}, {"special", true}, {"lstrip", true}, {"rstrip", true}});
  document["added_tokens"].push_back({{"id", 264}, {"content", "cat"}, {"special", false}, {"single_word", true}});
  document["added_tokens"].push_back({{"id", 265}, {"content", "<m><m>"}, {"special", true}});
  const auto tokenizer = tokenizer_from({{"tokenizer.json", document.dump()}});
  EXPECT_EQ(pieces_of(*tokenizer, tokenizer->encode("he \n<m>  he")), (Strings{"he", "<m>", "he"}));
  EXPECT_EQ(pieces_of(*tokenizer, tokenizer->encode("cat cats")), (Strings{"cat", "Ġ", "c", "a", "t", "s"}));
  EXPECT_EQ(pieces_of(*tokenizer, tokenizer->encode("<m><m><m>")), (Strings{"<m><m>", "<m>"}));
  EXPECT_EQ(tokenizer->vocabulary_size(), 266);
}

TEST(Tokenizer, EveryEndTokenOfTheModelStopsGeneration) {
  const auto tokenizer = tokenizer_from({{"tokenizer.json", byte_level_document().dump()},
                                         {"tokenizer_config.json", R"({"eos_token": {"content": "</s>"}, "pad_token": "</s>"})"},
                                         {"config.json", R"({"eos_token_id": 7, "pad_token_id": -1})"},
                                         {"generation_config.json", R"({"eos_token_id": [5, 1]})"}});
  EXPECT_EQ(tokenizer->eos_id, 1);
  EXPECT_EQ(tokenizer->pad_id, 1);
  EXPECT_EQ(tokenizer->bos_id, std::nullopt);
  EXPECT_EQ(tokenizer->stop_ids, (Ids{1, 5}));
}

TEST(Tokenizer, TextThatCannotBeEncodedIsAnError) {
  json document = byte_level_document();
  document["model"]["vocab"].erase("Ć");  // byte 6
  const auto tokenizer = tokenizer_from({{"tokenizer.json", document.dump()}});
  const std::string no_token = failure_of<DataError>([&] { tokenizer->encode("a\x06"); });
  EXPECT_NE(no_token.find("byte 0x06"), std::string::npos) << no_token;
  const std::string not_text = failure_of<DataError>([&] { tokenizer->encode("ab\xFF"); });
  EXPECT_NE(not_text.find("byte 0xFF at 2"), std::string::npos) << not_text;
}

TEST(Tokenizer, AnIdWithoutTokenIsAnError) {
  const auto tokenizer = byte_level();
  for (const int32_t id : {-1, 263, 1 << 30}) {
    EXPECT_THROW(tokenizer->piece(id), DataError) << id;
    EXPECT_THROW(tokenizer->decode(Ids{id}), DataError) << id;
  }
}

TEST(Tokenizer, EncodesOnSeveralThreadsAtOnce) {
  const auto tokenizer = sentencepiece_like();
  const std::string text = "This is a </s> \n b";
  std::vector<std::thread> threads;
  std::vector<std::pair<Ids, Ids>> found(4);
  for (auto& both : found) {
    threads.emplace_back([&] { both = {tokenizer[0]->encode(text), tokenizer[1]->encode(text)}; });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& [json_ids, model_ids] : found) {
    EXPECT_EQ(json_ids, tokenizer[0]->encode(text));
    EXPECT_EQ(model_ids, json_ids);
  }
}

}  // namespace
}  // namespace scantling
