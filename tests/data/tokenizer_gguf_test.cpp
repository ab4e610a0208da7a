// Tokenizers out of GGUF values, rewritten as Hugging Face files and loaded from there.
#include "scantling/data/tokenizer_gguf.h"

#include <gtest/gtest.h>

#include "scantling/core/error.h"
#include "tiny_tokenizers.h"

namespace scantling {
namespace {

using Strings = std::vector<std::string>;

GgufTokenizer byte_level_gguf(const std::string& pre) {
  GgufTokenizer gguf{.source = "m.gguf", .model = "gpt2", .pre = pre, .bos_id = 0, .eos_id = 1, .padding_id = 1};
  const nlohmann::json model = byte_level_document()["model"];
  gguf.tokens.resize(model["vocab"].size());
  for (const auto& [token, id] : model["vocab"].items()) gguf.tokens[id] = token;
  gguf.token_types.assign(gguf.tokens.size(), 1);
  gguf.token_types[0] = gguf.token_types[1] = 3;
  gguf.merges = model["merges"].get<Strings>();
  return gguf;
}

GgufTokenizer sentencepiece_gguf() {
  GgufTokenizer gguf{.source = "m.gguf", .model = "llama", .bos_id = 1, .eos_id = 2, .unknown_id = 0};
  for (const Piece& piece : sentencepiece_pieces()) {
    gguf.scores.push_back(-static_cast<float>(gguf.tokens.size()));
    gguf.tokens.push_back(piece.text);
    gguf.token_types.push_back(piece.type);
  }
  return gguf;
}

std::unique_ptr<Tokenizer> imported(const GgufTokenizer& gguf) {
  const TokenizerDocuments documents = tokenizer_json_from_gguf(gguf);
  return tokenizer_from({{"tokenizer.json", documents.tokenizer.dump()}, {"tokenizer_config.json", documents.config.dump()}});
}

Strings words_of(const Tokenizer& tokenizer, const std::string& text) { return pieces_of(tokenizer, tokenizer.encode(text)); }

TEST(TokenizerGguf, ByteLevelByNameOfItsPattern) {
  GgufTokenizer gguf = byte_level_gguf("smollm");
  gguf.merges.push_back("1 2");
  gguf.tokens.push_back("12");
  gguf.token_types.push_back(1);
  EXPECT_EQ(words_of(*imported(gguf), "hello 12"), (Strings{"hello", "Ġ", "1", "2"}));
  gguf.pre = "gpt-2";
  EXPECT_EQ(words_of(*imported(gguf), "hello 12"), (Strings{"hello", "Ġ", "12"}));
}

TEST(TokenizerGguf, StartTokenAsTheFileSaysElseByFamily) {
  GgufTokenizer gguf = byte_level_gguf("smollm");
  EXPECT_FALSE(imported(gguf)->add_bos);
  EXPECT_EQ(words_of(*imported(byte_level_gguf("llama-bpe")), "hello"), (Strings{"<s>", "hello"}));
  gguf.add_bos = true;
  EXPECT_EQ(words_of(*imported(gguf), "<s>hello</s>"), (Strings{"<s>", "hello", "</s>"}));
  gguf.bos_id.reset();
  EXPECT_THROW(imported(gguf), CheckpointError);
}

TEST(TokenizerGguf, SpecialIdsAndTemplateGoAlong) {
  GgufTokenizer gguf = byte_level_gguf("gpt-2");
  gguf.chat_template = "{{ '<|im_start|>' }}";
  const auto tokenizer = imported(gguf);
  EXPECT_EQ(tokenizer->bos_id, 0);
  EXPECT_EQ(tokenizer->pad_id, 1);
  EXPECT_EQ(tokenizer->stop_ids, std::vector<int32_t>{1});
  EXPECT_EQ(tokenizer->chat_template, gguf.chat_template);
}

TEST(TokenizerGguf, ScoresBecomeMerges) {
  const auto ours = imported(sentencepiece_gguf());
  const auto theirs = tokenizer_from({{"tokenizer.model", sentencepiece_model()}});
  for (const char* text : {"This", "  a b", "This is Thisis</s>is", "\n😀", "", "<0x0A>"}) {
    EXPECT_EQ(ours->encode(text), theirs->encode(text)) << text;
    EXPECT_EQ(ours->decode(ours->encode(text), true), theirs->decode(theirs->encode(text), true)) << text;
  }
}

TEST(TokenizerGguf, SpacePrefixCanBeOff) {
  GgufTokenizer gguf = sentencepiece_gguf();
  gguf.add_space_prefix = false;
  const auto tokenizer = imported(gguf);
  EXPECT_EQ(words_of(*tokenizer, "This"), (Strings{"<s>", "This"}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(" This"), true), " This");
}

TEST(TokenizerGguf, RefusesWhatItCannotExpress) {
  const auto message_for = [](auto damage) {
    GgufTokenizer gguf = byte_level_gguf("smollm");
    damage(gguf);
    return failure_of<CheckpointError>([&] { tokenizer_json_from_gguf(gguf); });
  };
  EXPECT_NE(message_for([](GgufTokenizer& g) { g.model = "bert"; }).find("m.gguf: tokenizer.ggml.model is \"bert\""), std::string::npos);
  EXPECT_NE(message_for([](GgufTokenizer& g) { g.pre = "qwen9"; }).find("smollm"), std::string::npos);
  EXPECT_NE(message_for([](GgufTokenizer& g) { g.tokens[5] = "he"; }).find("tokenizer.ggml.tokens"), std::string::npos);
  EXPECT_NE(message_for([](GgufTokenizer& g) { g.tokens[5] = "\xFF"; }).find("tokens[5]"), std::string::npos);
  EXPECT_NE(message_for([](GgufTokenizer& g) { g.tokens.clear(); }).find("tokenizer.ggml.tokens"), std::string::npos);
  EXPECT_NE(message_for([](GgufTokenizer& g) { g.token_types.pop_back(); }).find("token_type"), std::string::npos);
  EXPECT_NE(message_for([](GgufTokenizer& g) { g.eos_id = 1000; }).find("eos_token_id is 1000"), std::string::npos);
  EXPECT_NE(message_for([](GgufTokenizer& g) { g.model = "llama"; }).find("scores"), std::string::npos);
}

}  // namespace
}  // namespace scantling
