// What a GGUF file says about a Llama model, as a Hugging Face config. Nothing is guessed and nothing is dropped in silence: a key that
// changes the model's arithmetic and has no counterpart in LlamaForCausalLM is refused by name.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scantling/checkpoint/gguf.h"
#include "scantling/core/dtype.h"

namespace scantling {

struct LlamaShape {
  int64_t layers = 0, hidden = 0, intermediate = 0, heads = 0, kv_heads = 0, head_dim = 0, vocabulary = 0;
  bool tied = false, attention_bias = false, mlp_bias = false;
};

// Throws CheckpointError naming the file and the key: another architecture, a missing key, sizes that contradict each other.
LlamaShape llama_shape(const GgufFile& file);

// config.json: numbers are the shortest decimals that give the file's float32 values.
nlohmann::ordered_json llama_config(const GgufFile& file, const LlamaShape& shape, DType dtype);

// generation_config.json: the begin, end (also the end of a turn) and padding ids the file has.
nlohmann::ordered_json generation_config(const GgufFile& file);

// Keys of the model itself that are not carried over, one line each.
std::vector<std::string> unused_llama_keys(const GgufFile& file);

}  // namespace scantling
