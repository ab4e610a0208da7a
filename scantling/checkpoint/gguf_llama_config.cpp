// Llama 3's rotary scaling is stored as the finished factors (tensor rope_freqs.weight). The four numbers behind them are found by
// trial: the formula with the published frequencies must give the file's factors again, otherwise the file is refused.
#include "scantling/checkpoint/gguf_llama_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "scantling/core/text.h"

namespace scantling {
namespace {

using Json = nlohmann::ordered_json;

double shortest_decimal(double float32_value) { return std::stod(fmt::format("{}", static_cast<float>(float32_value))); }

int64_t positive(const GgufFile& file, std::string_view key) {
  const GgufValue& value = file.at(key);
  if (value.is_array)
    refuse(file.path(), fmt::format("{} differs between layers. All layers must be equal. This model cannot be imported.", key));
  const int64_t number = value.as_integer();
  if (number <= 0 || number > INT32_MAX)
    refuse(file.path(), fmt::format("{} is {}. It must be between 1 and 2^31 - 1. Convert the model again.", key, number));
  return number;
}

int64_t positive_or(const GgufFile& file, std::string_view key, int64_t fallback) {
  return file.find(key) ? positive(file, key) : fallback;
}

double number_or(const GgufFile& file, std::string_view key, double fallback) {
  const GgufValue* value = file.find(key);
  return value == nullptr ? fallback : value->as_number();
}

void check_architecture(const GgufFile& file) {
  const auto architecture = file.at("general.architecture").as_string();
  if (architecture != "llama") {
    refuse(file.path(), fmt::format("general.architecture is {}. Only llama can be imported. Use the model's Hugging Face folder.",
                                    in_quotes(architecture)));
  }
  if (number_or(file, "llama.expert_count", 0) != 0) {
    refuse(file.path(), "llama.expert_count is not 0. Models with experts cannot be imported. Use the model's Hugging Face folder.");
  }
  if (number_or(file, "llama.attention.sliding_window", 0) != 0) {
    refuse(file.path(),
           "llama.attention.sliding_window is set. LlamaForCausalLM has no sliding window. Use the model's Hugging Face folder.");
  }
}

int64_t head_size(const GgufFile& file, int64_t hidden, int64_t heads) {
  const int64_t even = std::max<int64_t>(hidden / heads, 1);
  const int64_t key = positive_or(file, "llama.attention.key_length", even);
  const int64_t value = positive_or(file, "llama.attention.value_length", even);
  const int64_t rotated = positive_or(file, "llama.rope.dimension_count", key);
  if (key != value || key != rotated || key % 2 != 0) {
    refuse(file.path(),
           fmt::format("head sizes are key {}, value {}, rotated {}. They must be equal and even. This model cannot be imported.", key,
                       value, rotated));
  }
  return key;
}

double llama3_factor(double frequency, double factor, double low, double high, double original) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  if (wavelength < original / high) return 1;
  if (wavelength > original / low) return factor;
  const double smooth = (original / wavelength - low) / (high - low);
  return 1 / ((1 - smooth) / factor + smooth);
}

Json llama3_scaling(const GgufFile& file, const GgufTensor& tensor, const LlamaShape& shape, double theta) {
  if (tensor.shape != std::vector<int64_t>{shape.head_dim / 2}) {
    refuse(file.path(), fmt::format("rope_freqs.weight has {} elements. It must have head_dim / 2 = {}. Convert the model again.",
                                    tensor.elements(), shape.head_dim / 2));
  }
  std::vector<float> factors(static_cast<size_t>(tensor.elements()));
  dequantize_rows(file.path(), tensor, 0, 1, factors.data());
  const double factor = shortest_decimal(*std::max_element(factors.begin(), factors.end()));
  if (factor == 1 && *std::min_element(factors.begin(), factors.end()) == 1) return nullptr;
  constexpr double low = 1, high = 4, tolerance = 1e-4;
  const int64_t original = positive_or(file, "llama.rope.scaling.original_context_length", 8192);
  for (size_t pair = 0; pair < factors.size(); ++pair) {
    const double frequency = std::pow(theta, -2.0 * static_cast<double>(pair) / static_cast<double>(shape.head_dim));
    const double expected = llama3_factor(frequency, factor, low, high, static_cast<double>(original));
    if (!(std::fabs(factors[pair] - expected) <= tolerance * expected)) {
      refuse(file.path(),
             fmt::format("rope_freqs.weight has {} at {}, Llama 3's rule with factor {} and original length {} gives {}. No other rule is "
                         "known. Use the model's Hugging Face folder.",
                         factors[pair], pair, factor, original, expected));
    }
  }
  return {{"factor", factor},
          {"high_freq_factor", high},
          {"low_freq_factor", low},
          {"original_max_position_embeddings", original},
          {"rope_type", "llama3"}};
}

Json rope_scaling(const GgufFile& file, const LlamaShape& shape, double theta) {
  const GgufValue* type = file.find("llama.rope.scaling.type");
  const auto name = type == nullptr ? std::string_view("none") : type->as_string();
  const double factor = number_or(file, "llama.rope.scaling.factor", number_or(file, "llama.rope.scale_linear", 1));
  const GgufTensor* factors = file.tensor("rope_freqs.weight");
  const bool linear = name == "linear" || (type == nullptr && factor != 1);
  if ((name != "none" && name != "linear") || (linear && factors != nullptr) || !(factor > 0)) {
    refuse(file.path(),
           fmt::format("llama.rope.scaling.type is {} with factor {}{}. Only linear or Llama 3 scaling can be imported. Use the model's "
                       "Hugging Face folder.",
                       in_quotes(name), factor, factors != nullptr ? " beside rope_freqs.weight" : ""));
  }
  if (factors != nullptr) return llama3_scaling(file, *factors, shape, theta);
  if (linear && factor != 1) return {{"factor", shortest_decimal(factor)}, {"rope_type", "linear"}};
  return nullptr;
}

Json token_id(const GgufFile& file, std::string_view key) {
  const GgufValue* value = file.find(key);
  return value == nullptr ? Json(nullptr) : Json(value->as_integer());
}

}  // namespace

LlamaShape llama_shape(const GgufFile& file) {
  check_architecture(file);
  LlamaShape shape;
  shape.layers = positive(file, "llama.block_count");
  shape.hidden = positive(file, "llama.embedding_length");
  shape.intermediate = positive(file, "llama.feed_forward_length");
  shape.heads = positive(file, "llama.attention.head_count");
  shape.kv_heads = positive_or(file, "llama.attention.head_count_kv", shape.heads);
  shape.head_dim = head_size(file, shape.hidden, shape.heads);
  if (shape.heads % shape.kv_heads != 0) {
    refuse(file.path(),
           fmt::format(
               "llama.attention.head_count is {}, head_count_kv {}. The first must be a multiple of the second. Convert the model again.",
               shape.heads, shape.kv_heads));
  }
  const GgufTensor* embedding = file.tensor("token_embd.weight");
  if (embedding == nullptr || embedding->shape.size() != 2)
    refuse(file.path(), "has no matrix token_embd.weight. A model needs one. Convert the model again.");
  shape.vocabulary = embedding->shape[0];
  if (positive_or(file, "llama.vocab_size", shape.vocabulary) != shape.vocabulary) {
    refuse(file.path(), fmt::format("llama.vocab_size is {}, token_embd.weight has {} rows. They must be equal. Convert the model again.",
                                    positive(file, "llama.vocab_size"), shape.vocabulary));
  }
  shape.tied = file.tensor("output.weight") == nullptr;
  shape.attention_bias = file.tensor("blk.0.attn_q.bias") != nullptr;
  shape.mlp_bias = file.tensor("blk.0.ffn_gate.bias") != nullptr;
  return shape;
}

Json llama_config(const GgufFile& file, const LlamaShape& shape, DType dtype) {
  const double theta = shortest_decimal(number_or(file, "llama.rope.freq_base", 10000));
  return {{"architectures", {"LlamaForCausalLM"}},
          {"attention_bias", shape.attention_bias},
          {"attention_dropout", 0.0},
          {"bos_token_id", token_id(file, "tokenizer.ggml.bos_token_id")},
          {"eos_token_id", token_id(file, "tokenizer.ggml.eos_token_id")},
          {"head_dim", shape.head_dim},
          {"hidden_act", "silu"},
          {"hidden_size", shape.hidden},
          {"initializer_range", 0.02},
          {"intermediate_size", shape.intermediate},
          {"max_position_embeddings", positive(file, "llama.context_length")},
          {"mlp_bias", shape.mlp_bias},
          {"model_type", "llama"},
          {"num_attention_heads", shape.heads},
          {"num_hidden_layers", shape.layers},
          {"num_key_value_heads", shape.kv_heads},
          {"pad_token_id", token_id(file, "tokenizer.ggml.padding_token_id")},
          {"rms_norm_eps", shortest_decimal(file.at("llama.attention.layer_norm_rms_epsilon").as_number())},
          {"rope_scaling", rope_scaling(file, shape, theta)},
          {"rope_theta", theta},
          {"tie_word_embeddings", shape.tied},
          {"torch_dtype", name_of(dtype)},
          {"vocab_size", shape.vocabulary}};
}

Json generation_config(const GgufFile& file) {
  Json result = Json::object();
  const auto add = [&](const char* name, const Json& id) {
    if (!id.is_null()) result[name] = id;
  };
  add("bos_token_id", token_id(file, "tokenizer.ggml.bos_token_id"));
  add("eos_token_id", token_id(file, "tokenizer.ggml.eos_token_id"));
  add("pad_token_id", token_id(file, "tokenizer.ggml.padding_token_id"));
  const Json end_of_turn = token_id(file, "tokenizer.ggml.eot_token_id");
  if (!end_of_turn.is_null() && result.contains("eos_token_id") && result["eos_token_id"] != end_of_turn) {
    result["eos_token_id"] = Json::array({result["eos_token_id"], end_of_turn});
  }
  return result;
}

std::vector<std::string> unused_llama_keys(const GgufFile& file) {
  constexpr std::array<std::string_view, 20> used{"llama.block_count",
                                                  "llama.context_length",
                                                  "llama.embedding_length",
                                                  "llama.feed_forward_length",
                                                  "llama.attention.head_count",
                                                  "llama.attention.head_count_kv",
                                                  "llama.attention.key_length",
                                                  "llama.attention.value_length",
                                                  "llama.attention.sliding_window",
                                                  "llama.attention.layer_norm_rms_epsilon",
                                                  "llama.rope.freq_base",
                                                  "llama.rope.dimension_count",
                                                  "llama.rope.scaling.type",
                                                  "llama.rope.scaling.factor",
                                                  "llama.rope.scaling.original_context_length",
                                                  "llama.rope.scale_linear",
                                                  "llama.vocab_size",
                                                  "llama.expert_count",
                                                  "llama.expert_used_count",
                                                  "llama.rope.scaling.finetuned"};
  std::vector<std::string> notices;
  for (const auto& [key, value] : file.metadata()) {
    if (key.starts_with("llama.") && std::find(used.begin(), used.end(), key) == used.end()) {
      notices.push_back(fmt::format("the key {} is not carried over: config.json has no counterpart", in_quotes(key)));
    }
  }
  return notices;
}

}  // namespace scantling
