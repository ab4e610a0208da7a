// The parts of a tokenizer.json put together. Words that come again within one call are looked up, since most words of a text do.
#include "scantling/data/tokenizer_json.h"

#include <fmt/format.h>

#include <sstream>

#include "scantling/data/pre_tokenizer.h"
#include "scantling/data/tokenizer_bpe.h"
#include "scantling/data/tokenizer_byte_level.h"
#include "scantling/data/tokenizer_decoder.h"
#include "scantling/data/tokenizer_normalizer.h"

namespace scantling {
namespace {

// Words longer than this rarely come again.
constexpr size_t cached_word_bytes = 64;

class BpeTextModel : public TextModel {
 public:
  explicit BpeTextModel(const JsonField& root)
      : normalizer_(root.find("normalizer")),
        pre_tokenizer_(root.find("pre_tokenizer")),
        bpe_(root.at("model"), pre_tokenizer_.byte_level()),
        decoder_(root.find("decoder"), pre_tokenizer_.byte_level(), normalizer_.prepends() || pre_tokenizer_.prefixes_every_stretch()) {}

  std::string normalize(std::string_view text) const override { return normalizer_(text); }

  void encode(std::string_view text, bool at_start, WordCache& cache, std::vector<int32_t>& ids) const override {
    for (const std::string_view word : pre_tokenizer_.cut(text, at_start).words) {
      if (word.size() > cached_word_bytes) {
        encode_word(word, ids);
        continue;
      }
      auto known = cache.find(word);
      if (known == cache.end()) {
        known = cache.emplace(word, std::vector<int32_t>{}).first;
        encode_word(word, known->second);
      }
      ids.insert(ids.end(), known->second.begin(), known->second.end());
    }
  }

  std::string decode(std::span<const int32_t> ids, bool at_start) const override {
    std::vector<std::string> tokens;
    tokens.reserve(ids.size());
    for (const int32_t id : ids) tokens.push_back(*bpe_.token(id));
    return decoder_.decode(std::move(tokens), at_start);
  }

  std::optional<int32_t> id_of(std::string_view piece) const override { return bpe_.id_of(piece); }
  std::optional<std::string> piece(int32_t id) const override {
    const std::string* token = bpe_.token(id);
    return token == nullptr ? std::nullopt : std::optional(*token);
  }
  int32_t end_id() const override { return bpe_.end_id(); }

 private:
  void encode_word(std::string_view word, std::vector<int32_t>& ids) const {
    bpe_.encode_word(pre_tokenizer_.byte_level() ? to_byte_level(word) : word, ids);
  }

  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  BpeModel bpe_;
  Decoder decoder_;
};

// What a TemplateProcessing puts before the text: nothing or one token. Anything else would change rows of training data unseen.
void read_template(const JsonField& field, TokenizerJson& out) {
  bool after_text = false;
  for (const JsonField& item : field.at("single").items()) {
    const auto special = item.find("SpecialToken");
    if (!special) {
      after_text = true;
      continue;
    }
    const std::string name = special->at("id").text();
    if (after_text) {
      special->fail(fmt::format("puts \"{}\" after every text", name),
                    "Only a start token can be added. Remove the entry; rows of training text get their end token anyway.");
    }
    const auto ids = field.at("special_tokens").at(name).at("ids").items();
    if (ids.size() != 1 || out.start_id)
      special->fail(fmt::format("\"{}\" is not the only start token", name), "At most one token can be put before a text.");
    out.start_id = ids[0].token_id();
    out.adds_start = true;
  }
}

void read_post_processor(const JsonField& field, TokenizerJson& out) {
  const std::string type = field.at("type").text();
  if (!out.adds_start) out.adds_start = false;
  if (type == "Sequence") {
    for (const JsonField& item : field.at("processors").items()) read_post_processor(item, out);
  } else if (type == "TemplateProcessing") {
    read_template(field, out);
  } else if (type != "ByteLevel") {  // ByteLevel changes offsets only
    field.fail(fmt::format("has the type \"{}\"", type),
               "Supported are Sequence, TemplateProcessing and ByteLevel. Use a model with such a tokenizer.");
  }
}

}  // namespace

TokenizerJson read_tokenizer_json(const JsonField& root) {
  TokenizerJson out;
  out.model = std::make_unique<BpeTextModel>(root);
  if (const auto added = root.find("added_tokens")) {
    for (const JsonField& item : added->items()) {
      out.added.push_back(read_added_token(item));
      out.added.back().id = item.at("id").token_id();
    }
  }
  if (const auto post_processor = root.find("post_processor")) read_post_processor(*post_processor, out);
  return out;
}

nlohmann::json tokenizer_json_from_gpt2(const std::filesystem::path& vocabulary, const std::filesystem::path& merges) {
  nlohmann::json pairs = nlohmann::json::array();
  std::istringstream lines(read_bytes(merges));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.starts_with("#version")) continue;
    pairs.push_back(line);
  }
  nlohmann::json tokens = read_json(vocabulary);
  nlohmann::json added = nlohmann::json::array();
  if (JsonField(tokens, vocabulary.string()).find(gpt2_end_token)) {
    added.push_back({{"id", tokens[gpt2_end_token]}, {"content", gpt2_end_token}, {"special", true}});
  }
  return {{"added_tokens", std::move(added)},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", std::move(tokens)}, {"merges", std::move(pairs)}}}};
}

}  // namespace scantling
