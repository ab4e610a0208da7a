// tokenizer.model through the SentencePiece library. Special tokens never reach the library: they are cut out before, so that one in
// the text is one id only when asked for. Bytes come back exactly, also those of a character cut in half.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "scantling/data/tokenizer_added_tokens.h"
#include "scantling/data/tokenizer_model.h"

namespace scantling {

struct SentencePieceFile {
  std::unique_ptr<TextModel> model;
  std::vector<AddedToken> added;  // control and unknown pieces
  std::optional<int32_t> bos_id, eos_id, pad_id;
};

// `prefix_everywhere`: where the model puts a word mark before a text, put one before every stretch between special tokens ("legacy" in
// Hugging Face's tokenizer_config.json, the default there); otherwise only at the very start. ConfigError if the file is not a model.
SentencePieceFile read_sentencepiece(const std::filesystem::path& file, bool prefix_everywhere);

}  // namespace scantling
