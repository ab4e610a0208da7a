// The tokenizer inside a GGUF file, rewritten as Hugging Face files, so that there is one way to read a tokenizer. GGUF names the
// pre-tokenizer instead of describing it; a name that is not known here is refused, since another pattern gives other ids.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace scantling {

// Values of the "tokenizer.*" keys, as the file has them.
struct GgufTokenizer {
  std::string source;                // the GGUF file's name, for messages
  std::string model, pre;            // tokenizer.ggml.model: "gpt2" or "llama"; tokenizer.ggml.pre
  std::vector<std::string> tokens;   // by id
  std::vector<int32_t> token_types;  // by id: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte; empty: all normal
  std::vector<float> scores;         // by id; needed by "llama"
  std::vector<std::string> merges;   // "a b"; needed by "gpt2"
  std::optional<int32_t> bos_id, eos_id, unknown_id, padding_id;
  std::optional<bool> add_bos, add_space_prefix;
  std::string chat_template;  // empty: none
};

struct TokenizerDocuments {
  nlohmann::json tokenizer;  // tokenizer.json
  nlohmann::json config;     // tokenizer_config.json
};

// Throws CheckpointError naming the key for an unknown model or pre-tokenizer, lists of unequal length, ids out of range or given twice.
TokenizerDocuments tokenizer_json_from_gguf(const GgufTokenizer& gguf);

}  // namespace scantling
