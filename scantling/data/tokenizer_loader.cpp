// load_tokenizer: chooses the file that holds the vocabulary, reads it, and completes it by what the small files beside it say.

#include <fmt/format.h>

#include <algorithm>

#include "scantling/core/error.h"
#include "scantling/data/sentencepiece_tokenizer.h"
#include "scantling/data/tokenizer.h"
#include "scantling/data/tokenizer_json.h"
#include "scantling/data/tokenizer_settings.h"

namespace scantling {
namespace {

struct Vocabulary {
  std::unique_ptr<TextModel> model;
  std::vector<AddedToken> added;
  TokenizerSettings::Defaults defaults;
  std::string source;
};

Vocabulary from_json(const nlohmann::json& document, const std::string& source) {
  TokenizerJson read = read_tokenizer_json(JsonField(document, source));
  return {std::move(read.model), std::move(read.added), {.adds_start = read.adds_start, .bos_id = read.start_id}, source};
}

// GPT-2's files do not say which token ends a text: it is this one.
Vocabulary from_gpt2(const std::filesystem::path& folder) {
  const nlohmann::json document = tokenizer_json_from_gpt2(folder / "vocab.json", folder / "merges.txt");
  Vocabulary read = from_json(document, (folder / "vocab.json and merges.txt").string());
  read.defaults.bos_id = read.defaults.eos_id = read.model->id_of(gpt2_end_token);
  return read;
}

Vocabulary from_sentencepiece(const std::filesystem::path& file, bool prefix_everywhere) {
  SentencePieceFile read = read_sentencepiece(file, prefix_everywhere);
  return {std::move(read.model),
          std::move(read.added),
          {.bos_id = read.bos_id, .eos_id = read.eos_id, .pad_id = read.pad_id, .sentencepiece = true},
          file.string()};
}

Vocabulary read_vocabulary(const std::filesystem::path& folder, const TokenizerSettings& settings) {
  const auto there = [&](const char* name) { return std::filesystem::exists(folder / name); };
  if (there("tokenizer.json")) return from_json(read_json(folder / "tokenizer.json"), (folder / "tokenizer.json").string());
  if (there("vocab.json") && there("merges.txt")) return from_gpt2(folder);
  if (there("tokenizer.model")) return from_sentencepiece(folder / "tokenizer.model", settings.prefix_everywhere());
  throw ConfigError(
      fmt::format("{} holds no tokenizer. It must have tokenizer.json, vocab.json with merges.txt, or tokenizer.model. "
                  "Copy the tokenizer's files there.",
                  folder.string()));
}

// Tokens that are named as special and stand in the vocabulary become special, too.
void add_named(const TokenizerSettings& settings, Vocabulary& vocabulary) {
  for (const std::string& name : settings.special_names()) {
    const bool listed =
        std::any_of(vocabulary.added.begin(), vocabulary.added.end(), [&](const AddedToken& token) { return token.content == name; });
    if (listed) continue;
    const auto id = vocabulary.model->id_of(name);
    if (!id) {
      throw ConfigError(
          fmt::format("{}: the special token \"{}\" is named beside it but is not in it. A special token must have an id. "
                      "Add it to added_tokens_decoder in tokenizer_config.json, or remove the name.",
                      vocabulary.source, name));
    }
    vocabulary.added.push_back({.content = name, .id = *id, .special = true});
  }
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder) {
  const TokenizerSettings settings(folder);
  Vocabulary vocabulary = read_vocabulary(folder, settings);
  const std::vector<AddedToken> more = settings.added_tokens();
  vocabulary.added.insert(vocabulary.added.end(), more.begin(), more.end());
  add_named(settings, vocabulary);
  auto tokenizer = std::make_unique<Tokenizer>(std::move(vocabulary.model), vocabulary.added, vocabulary.source);
  settings.apply(vocabulary.defaults, *tokenizer);
  return tokenizer;
}

}  // namespace scantling
