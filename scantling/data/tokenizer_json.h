// tokenizer.json of Hugging Face's tokenizers library, BPE kind: normaliser, pre-tokenizer, merges, decoder. The file says everything;
// what is not supported is refused by name when the file is read, never ignored. Also the older pair vocab.json + merges.txt, which is
// put into the same form first.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "scantling/data/tokenizer_added_tokens.h"
#include "scantling/data/tokenizer_fields.h"
#include "scantling/data/tokenizer_model.h"

namespace scantling {

struct TokenizerJson {
  std::unique_ptr<TextModel> model;
  std::vector<AddedToken> added;
  std::optional<bool> adds_start;   // whether the post-processor puts a start token first; none if there is no post-processor
  std::optional<int32_t> start_id;  // that token
};

// Throws ConfigError naming file and key.
TokenizerJson read_tokenizer_json(const JsonField& root);

inline constexpr const char* gpt2_end_token = "<|endoftext|>";

// A tokenizer.json document for GPT-2's vocab.json and merges.txt, with GPT-2's end token as special if the vocabulary has it.
// ConfigError if they cannot be read.
nlohmann::json tokenizer_json_from_gpt2(const std::filesystem::path& vocabulary, const std::filesystem::path& merges);

}  // namespace scantling
