// The Llama family (Llama 1 to 3.2, Mistral without a sliding window) as its config.json gives it, and its parameter table.
// Keys and defaults are those of Hugging Face's LlamaConfig and MistralConfig; what this version cannot compute is refused, never dropped.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scantling/models/description/description.h"
#include "scantling/models/description/rope.h"

namespace scantling {

struct LlamaConfig {
  int64_t hidden = 4096;
  int64_t intermediate = 11'008;
  int64_t layers = 32;
  int64_t heads = 32;
  int64_t kv_heads = 32;
  int64_t head_dim = 128;
  int64_t vocabulary = 32'000;
  int64_t max_positions = 2048;
  double rms_eps = 1e-6;
  RopeConfig rope;
  bool attention_bias = false;  // q, k, v and o
  bool mlp_bias = false;        // gate, up and down
  bool tied = false;            // the head is the embedding matrix
  double initializer_range = 0.02;
  std::vector<int64_t> bos_ids;
  std::vector<int64_t> eos_ids;
  std::string class_prefix = "Llama";  // of the module classes: "Llama" or "Mistral"
  nlohmann::json raw;                  // the whole file, for export: unknown keys are kept
};

// Throws ConfigError with every fault of the configuration, each naming `file` and the key.
LlamaConfig parse_llama_config(const nlohmann::json& config, const std::string& file);

// Blocks "model.embed_tokens", "model.layers.N" and "lm_head" (final norm and head), and the parameters under their Hugging Face names.
// Tied: no lm_head.weight; the embedding is used by the first and the last block and has it as an alias.
ModelDescription describe_llama(const LlamaConfig& config);

}  // namespace scantling
