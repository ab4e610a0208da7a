// Text to token ids and back. A Tokenizer cuts special tokens out of the text, hands the stretches between them to a TextModel (byte-level
// BPE, SentencePiece-like BPE, or the SentencePiece library) and puts the start token first where the tokenizer says so.
// Invariants: text is never dropped, at most one start token leads a text, and decode undoes encode for ids it made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scantling/data/tokenizer_added_tokens.h"
#include "scantling/data/tokenizer_model.h"

namespace scantling {

struct EncodeOptions {
  bool parse_special = true;  // "</s>" in the text is one id; otherwise it is ordinary text
  bool add_bos = true;        // put the start token first, where the tokenizer says so and the text does not begin with it already
};

class Tokenizer {
 public:
  // `added`: tokens to cut out of the text, with their ids; ConfigError naming `source` if an id or a content clashes.
  Tokenizer(std::unique_ptr<TextModel> model, const std::vector<AddedToken>& added, const std::string& source);

  // The ids of `text`. DataError if it is not UTF-8 or has something the vocabulary cannot express. Safe to call from several threads.
  std::vector<int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // The text of `ids`, byte for byte: a character whose bytes are not all there stays cut. DataError for an id without a token.
  std::string decode(std::span<const int32_t> ids, bool skip_special = false) const;
  // The token as the vocabulary spells it ("Ġworld", "▁world", "<0x0A>"). DataError for an id without a token.
  std::string piece(int32_t id) const;
  std::optional<int32_t> id_of(std::string_view piece) const;
  bool is_special(int32_t id) const;
  int64_t vocabulary_size() const;  // the largest id + 1; a model's embedding may have more rows, never fewer

  std::optional<int32_t> bos_id, eos_id, pad_id;
  bool add_bos = false;
  std::vector<int32_t> stop_ids;  // every id that ends a generated text, ascending; eos_id among them
  std::string chat_template;      // Jinja text; empty if there is none

 private:
  void add(const AddedToken& token, const std::string& source);
  void encode_plain(std::string_view text, bool at_start, bool parse_special, WordCache& cache, std::vector<int32_t>& ids) const;

  std::unique_ptr<TextModel> model_;
  AddedTokens raw_, normalized_;                        // looked for in the text as it is, and after normalisation
  std::unordered_map<int32_t, AddedToken> added_;       // by id
  std::unordered_map<std::string, int32_t> added_ids_;  // by content
  int64_t end_id_;
};

// The tokenizer of a Hugging Face folder: tokenizer.json, else vocab.json with merges.txt, else tokenizer.model. The files beside them say
// which tokens are special. Start token: tokenizer_config.json's add_bos_token; without it, what tokenizer.json's post-processor does;
// without that, Llama, Gemma and plain SentencePiece tokenizers add one, others do not. ConfigError if files are missing or malformed.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder);

}  // namespace scantling
