// Small Llama configurations for tests. TL: 106,816 parameters untied, 90,432 tied; one decoder layer 36,992; norm elements 320.
#pragma once

#include <nlohmann/json.hpp>

namespace scantling::test {

inline nlohmann::json tiny_llama(bool tied = false) {
  return {{"model_type", "llama"},    {"vocab_size", 256},          {"hidden_size", 64},        {"intermediate_size", 128},
          {"num_hidden_layers", 2},   {"num_attention_heads", 4},   {"num_key_value_heads", 2}, {"max_position_embeddings", 128},
          {"initializer_range", 0.1}, {"tie_word_embeddings", tied}};
}

// TL with sizes that no small number divides.
inline nlohmann::json odd_llama(bool tied = false) {
  auto config = tiny_llama(tied);
  config.update({{"vocab_size", 257}, {"hidden_size", 61}, {"intermediate_size", 37}, {"head_dim", 6}});
  config.update({{"num_attention_heads", 3}, {"num_key_value_heads", 1}});
  return config;
}

}  // namespace scantling::test
