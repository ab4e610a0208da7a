// Published tokenizers against published ids, and decoding back.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "scantling/core/error.h"
#include "scantling/data/tokenizer_gguf.h"
#include "tiny_tokenizers.h"

namespace scantling {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

#define NEEDS(file) \
  if (!std::filesystem::exists(shared_data(file))) GTEST_SKIP() << shared_data(file) << " is not there"

struct Vector {
  std::string text;
  Ids ids;
};

Ids numbers_of(std::string line) {
  std::replace(line.begin(), line.end(), ',', ' ');
  std::istringstream in(line);
  return {std::istream_iterator<int32_t>(in), {}};
}

// Texts in <name>.gguf.inp, a line of ids for each in <name>.gguf.out.
std::vector<Vector> llama_cpp_vectors(const std::string& name) {
  const std::string base = shared_data("tokenizers/llama.cpp-vectors/ggml-vocab-" + name + ".gguf");
  const std::string texts = bytes_of(base + ".inp");
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::istringstream lines(bytes_of(base + ".out"));
  std::vector<Vector> vectors;
  size_t begin = 0;
  for (size_t end; (end = texts.find(separator, begin)) != std::string::npos; begin = end + separator.size()) {
    std::string line;
    std::getline(lines, line);
    vectors.push_back({texts.substr(begin, end - begin), numbers_of(line)});
  }
  return vectors;
}

void expect_vectors(const Tokenizer& tokenizer, const std::vector<Vector>& vectors, size_t count) {
  ASSERT_EQ(vectors.size(), count);
  for (const auto& [text, ids] : vectors) {
    EXPECT_EQ(tokenizer.encode(text, {.add_bos = false}), ids) << "\"" << text << "\"";
    EXPECT_EQ(tokenizer.decode(ids), text);
  }
}

TEST(TokenizerVectors, Gpt2) {
  NEEDS("tokenizers/gpt2/vocab.json");
  const auto tokenizer = load_tokenizer(shared_data("tokenizers/gpt2"));
  expect_vectors(*tokenizer, llama_cpp_vectors("gpt-2"), 46);
  EXPECT_EQ(tokenizer->vocabulary_size(), 50257);
  EXPECT_EQ(tokenizer->eos_id, 50256);
  EXPECT_FALSE(tokenizer->add_bos);
  EXPECT_EQ(tokenizer->encode("a<|endoftext|>"), (Ids{64, 50256}));
}

TEST(TokenizerVectors, Gpt2Prompts) {
  NEEDS("tokenizers/ggml-prompts/gpt-2.txt");
  std::istringstream lines(bytes_of(shared_data("tokenizers/ggml-prompts/gpt-2.txt")));
  std::vector<Vector> vectors;
  for (std::string line; std::getline(lines, line);) {
    const size_t arrow = line.find(" => ");
    vectors.push_back({line.substr(0, arrow), numbers_of(line.substr(arrow + 4))});
  }
  expect_vectors(*load_tokenizer(shared_data("tokenizers/gpt2")), vectors, 100);
}

TEST(TokenizerVectors, LlamaSentencePieceAsJson) {
  NEEDS("tokenizers/llama2/tokenizer.json");
  const auto tokenizer = load_tokenizer(shared_data("tokenizers/llama2"));
  expect_vectors(*tokenizer, llama_cpp_vectors("llama-spm"), 46);
  EXPECT_EQ(tokenizer->encode("I love you.</s>"), (Ids{1, 306, 5360, 366, 29889, 2}));
}

TEST(TokenizerVectors, LlamaSentencePieceAsModel) {
  NEEDS("tokenizers/llama2/tokenizer.model");
  const auto tokenizer = tokenizer_from({{"tokenizer.model", bytes_of(shared_data("tokenizers/llama2/tokenizer.model"))}});
  expect_vectors(*tokenizer, llama_cpp_vectors("llama-spm"), 46);
  EXPECT_EQ(tokenizer->encode("I love you.</s>"), (Ids{1, 306, 5360, 366, 29889, 2}));
  EXPECT_TRUE(tokenizer->add_bos);
}

TEST(TokenizerVectors, StoriesOfBothFiles) {
  NEEDS("checkpoints/stories260K-hf/tokenizer_vectors.json");
  const std::string folder = "checkpoints/stories260K-hf/";
  std::vector<Vector> vectors;
  for (const json& row : json::parse(bytes_of(shared_data(folder + "tokenizer_vectors.json"))))
    vectors.push_back({row["text"], row["ids"]});
  const auto config = std::pair<std::string, std::string>("tokenizer_config.json", bytes_of(shared_data(folder + "tokenizer_config.json")));
  for (const char* file : {"tokenizer.json", "tokenizer.model"}) {
    SCOPED_TRACE(file);
    const auto tokenizer = tokenizer_from({config, {file, bytes_of(shared_data(folder + file))}});
    expect_vectors(*tokenizer, vectors, 14);
    EXPECT_EQ(tokenizer->encode("a"), (Ids{1, 261}));
  }
}

std::string base64_decoded(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (size_t i = 0; i < text.size() && text[i] != '='; ++i) {
    bits = bits << 6 | static_cast<uint32_t>(digits.find(text[i]));
    count += 6;
    if (count >= 8) out.push_back(static_cast<char>(bits >> (count -= 8)));
  }
  return out;
}

// A file of "base64 rank" lines as a GGUF vocabulary: every way to make a token of two others is a merge, by the token's rank.
GgufTokenizer ranks_as_gguf(const std::string& path) {
  GgufTokenizer gguf{.source = path, .model = "gpt2", .pre = "llama-bpe", .add_bos = false};
  std::vector<std::string> raw;
  std::istringstream lines(bytes_of(path));
  for (std::string token, rank; lines >> token >> rank;) raw.push_back(base64_decoded(token));
  const std::set<std::string> known(raw.begin(), raw.end());
  for (const std::string& token : raw) {
    gguf.tokens.push_back(to_byte_level(token));
    for (size_t cut = 1; cut < token.size(); ++cut) {
      const std::string left = token.substr(0, cut), right = token.substr(cut);
      if (known.count(left) && known.count(right)) gguf.merges.push_back(to_byte_level(left) + " " + to_byte_level(right));
    }
  }
  return gguf;
}

TEST(TokenizerVectors, LlamaByteLevel) {
  NEEDS("tokenizers/llama3/tokenizer.tiktoken");
  const auto documents = tokenizer_json_from_gguf(ranks_as_gguf(shared_data("tokenizers/llama3/tokenizer.tiktoken")));
  const auto tokenizer =
      tokenizer_from({{"tokenizer.json", documents.tokenizer.dump()}, {"tokenizer_config.json", documents.config.dump()}});
  expect_vectors(*tokenizer, llama_cpp_vectors("llama-bpe"), 46);
}

TEST(TokenizerVectors, Phi2RoundTripsAndUsesItsTokensOfSpaces) {
  NEEDS("tokenizers/phi-2/tokenizer.json");
  const auto tokenizer = load_tokenizer(shared_data("tokenizers/phi-2"));
  for (const Vector& vector : llama_cpp_vectors("gpt-2")) EXPECT_EQ(tokenizer->decode(tokenizer->encode(vector.text)), vector.text);
  EXPECT_EQ(tokenizer->encode(std::string(31, ' ')), Ids{50257});
  EXPECT_EQ(tokenizer->vocabulary_size(), 50295);
}

// This vocabulary has no byte-level tokens for most bytes; text with those must not lose them unseen.
TEST(TokenizerVectors, TinyByteLevelRefusesBytesWithoutToken) {
  NEEDS("tokenizers/tiny-bytelevel/tokenizer.json");
  const auto tokenizer = load_tokenizer(shared_data("tokenizers/tiny-bytelevel"));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("hello<|im_end|>")), "hello<|im_end|>");
  EXPECT_EQ(tokenizer->encode("<|im_end|>"), Ids{2010});
  const std::string message = failure_of<DataError>([&] { tokenizer->encode("hello world"); });
  EXPECT_NE(message.find("byte 0x20"), std::string::npos) << message;
}

}  // namespace
}  // namespace scantling
