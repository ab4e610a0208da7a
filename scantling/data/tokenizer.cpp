// Encoding goes outside in: special tokens are cut out of the raw text, the rest is normalised, added tokens that want normalised text are
// cut out of that, and the model gets what is left. Decoding hands the model whole runs between added tokens, so that it can undo prefixes.
#include "scantling/data/tokenizer.h"

#include <fmt/format.h>

#include "scantling/core/error.h"
#include "scantling/core/text.h"

namespace scantling {

Tokenizer::Tokenizer(std::unique_ptr<TextModel> model, const std::vector<AddedToken>& added, const std::string& source)
    : model_(std::move(model)), end_id_(model_->end_id()) {
  for (const AddedToken& token : added) add(token, source);
}

void Tokenizer::add(const AddedToken& token, const std::string& source) {
  const auto clash = [&](std::string_view other) {
    throw ConfigError(
        fmt::format("{}: the added token \"{}\" has the id {}, but {}. A token must have one id, and an id one token. Correct the file.",
                    source, token.content, token.id, other));
  };
  if (const auto own = id_of(token.content); own && *own != token.id) clash(fmt::format("the same token has the id {} elsewhere", *own));
  if (const auto own = model_->piece(token.id); own && *own != token.content) clash(fmt::format("the vocabulary has \"{}\" there", *own));
  if (const auto [there, is_new] = added_.try_emplace(token.id, token); !is_new) {
    if (there->second.content != token.content) clash(fmt::format("so has \"{}\"", there->second.content));
    return;  // said twice: the first one's flags count
  }
  added_ids_.emplace(token.content, token.id);
  end_id_ = std::max<int64_t>(end_id_, int64_t{token.id} + 1);
  // Special tokens are always looked for in the text as it is. Normalising them first, as their flag can ask for, would put
  // a word mark before each, and "</s>" right after a word would not be found.
  if (token.normalized && !token.special) {
    normalized_.add(token, model_->normalize(token.content));
  } else {
    raw_.add(token, token.content);
  }
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  if (const size_t good = utf8_prefix(text); good < text.size()) {
    throw DataError(fmt::format(
        "The text is not UTF-8 (byte 0x{:02X} at {}). Tokenizers take UTF-8 text. Convert it first, for example with iconv -t UTF-8.",
        static_cast<unsigned char>(text[good]), good));
  }
  std::vector<int32_t> ids;
  ids.reserve(text.size() / 3 + 1);
  WordCache cache;
  for (const AddedTokens::Part& part : raw_.split(text, options.parse_special)) {
    if (part.token != nullptr) {
      ids.push_back(part.token->id);
    } else {
      encode_plain(part.text, part.text.data() == text.data(), options.parse_special, cache, ids);
    }
  }
  if (add_bos && options.add_bos && bos_id && (ids.empty() || ids.front() != *bos_id)) ids.insert(ids.begin(), *bos_id);
  return ids;
}

void Tokenizer::encode_plain(std::string_view text, bool at_start, bool parse_special, WordCache& cache, std::vector<int32_t>& ids) const {
  const std::string ready = model_->normalize(text);
  for (const AddedTokens::Part& part : normalized_.split(ready, parse_special)) {
    if (part.token != nullptr) {
      ids.push_back(part.token->id);
    } else {
      model_->encode(part.text, at_start && part.text.data() == ready.data(), cache, ids);
    }
  }
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  std::string text;
  std::vector<int32_t> run;
  bool at_start = true;  // nothing but the start token so far
  const auto flush = [&] {
    if (run.empty()) return;
    text += model_->decode(run, at_start);
    at_start = false;
    run.clear();
  };
  for (const int32_t id : ids) {
    const auto added = added_.find(id);
    if (added == added_.end()) {
      if (!model_->piece(id)) piece(id);
      run.push_back(id);
      continue;
    }
    flush();
    if (!(added->second.special && skip_special)) text += added->second.content;
    at_start = at_start && id == bos_id;
  }
  flush();
  return text;
}

std::string Tokenizer::piece(int32_t id) const {
  if (const auto added = added_.find(id); added != added_.end()) return added->second.content;
  if (auto own = model_->piece(id)) return *own;
  throw DataError(
      fmt::format("The id {} has no token. Ids must be tokens of this tokenizer (0 to {}). Check that ids and tokenizer belong together.",
                  id, vocabulary_size() - 1));
}

std::optional<int32_t> Tokenizer::id_of(std::string_view piece) const {
  if (const auto added = added_ids_.find(std::string(piece)); added != added_ids_.end()) return added->second;
  return model_->id_of(piece);
}

bool Tokenizer::is_special(int32_t id) const {
  const auto added = added_.find(id);
  return added != added_.end() && added->second.special;
}

int64_t Tokenizer::vocabulary_size() const { return end_id_; }

}  // namespace scantling
