// One table says what a layer holds; names, shapes and order follow from it.
#include "scantling/checkpoint/gguf_llama_tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "scantling/core/text.h"

namespace scantling {
namespace {

constexpr int64_t chunk_elements = 1 << 20;

struct Wanted {
  std::string file_name, name;
  std::vector<int64_t> shape;
  bool interleaved = false;
};

std::vector<Wanted> wanted_tensors(const LlamaShape& s) {
  const int64_t q = s.heads * s.head_dim;
  const int64_t kv = s.kv_heads * s.head_dim;
  struct Linear {
    const char *file_name, *name;
    int64_t out, in;
    bool bias, interleaved;
  };
  const Linear linears[] = {{"attn_q", "self_attn.q_proj", q, s.hidden, s.attention_bias, true},
                            {"attn_k", "self_attn.k_proj", kv, s.hidden, s.attention_bias, true},
                            {"attn_v", "self_attn.v_proj", kv, s.hidden, s.attention_bias, false},
                            {"attn_output", "self_attn.o_proj", s.hidden, q, s.attention_bias, false},
                            {"ffn_gate", "mlp.gate_proj", s.intermediate, s.hidden, s.mlp_bias, false},
                            {"ffn_up", "mlp.up_proj", s.intermediate, s.hidden, s.mlp_bias, false},
                            {"ffn_down", "mlp.down_proj", s.hidden, s.intermediate, s.mlp_bias, false}};
  std::vector<Wanted> wanted{{"token_embd.weight", "model.embed_tokens.weight", {s.vocabulary, s.hidden}}};
  for (int64_t layer = 0; layer < s.layers; ++layer) {
    const std::string from = fmt::format("blk.{}.", layer);
    const std::string to = fmt::format("model.layers.{}.", layer);
    wanted.push_back({from + "attn_norm.weight", to + "input_layernorm.weight", {s.hidden}});
    for (const auto& linear : linears) {
      wanted.push_back({from + linear.file_name + ".weight", to + linear.name + ".weight", {linear.out, linear.in}, linear.interleaved});
      if (linear.bias) wanted.push_back({from + linear.file_name + ".bias", to + linear.name + ".bias", {linear.out}, linear.interleaved});
    }
    wanted.push_back({from + "ffn_norm.weight", to + "post_attention_layernorm.weight", {s.hidden}});
  }
  wanted.push_back({"output_norm.weight", "model.norm.weight", {s.hidden}});
  if (!s.tied) wanted.push_back({"output.weight", "lm_head.weight", {s.vocabulary, s.hidden}});
  return wanted;
}

// Rows of one head from llama.cpp's order to Hugging Face's.
void to_half_split(const float* from, int64_t head_dim, int64_t width, float* to) {
  const int64_t half = head_dim / 2;
  for (int64_t row = 0; row < head_dim; ++row) {
    const int64_t target = row % 2 * half + row / 2;
    std::memcpy(to + target * width, from + row * width, static_cast<size_t>(width) * sizeof *to);
  }
}

}  // namespace

std::vector<ImportedTensor> llama_tensors(const GgufFile& file, const LlamaShape& shape) {
  std::vector<ImportedTensor> tensors;
  std::vector<std::string> missing, unexpected;
  std::set<std::string_view> used{"rope_freqs.weight"};
  const int64_t least_per_layer = 9;
  if (shape.layers > static_cast<int64_t>(file.tensors().size()) / least_per_layer) {
    refuse(file.path(),
           fmt::format("llama.block_count is {}, the file has {} tensors. A layer has at least {}. The file is damaged or split; give the "
                       "whole file.",
                       shape.layers, file.tensors().size(), least_per_layer));
  }
  for (const auto& wanted : wanted_tensors(shape)) {
    const GgufTensor* source = file.tensor(wanted.file_name);
    if (source == nullptr) {
      missing.push_back(wanted.file_name);
      continue;
    }
    if (source->shape != wanted.shape) {
      refuse(file.path(), fmt::format("tensor {} is [{}], the model needs [{}]. Shapes must follow from the keys. Convert the model again.",
                                      wanted.file_name, fmt::join(source->shape, ", "), fmt::join(wanted.shape, ", ")));
    }
    used.insert(source->name);
    tensors.push_back({wanted.name, source, wanted.interleaved});
  }
  for (const auto& tensor : file.tensors()) {
    if (!used.contains(tensor.name)) unexpected.push_back(in_quotes(tensor.name));
  }
  if (!missing.empty() || !unexpected.empty()) {
    refuse(file.path(),
           fmt::format("{} tensors of a Llama model are missing ({}), {} are unexpected ({}). The file must hold one whole model. Use the "
                       "model's Hugging Face folder.",
                       missing.size(), missing.empty() ? "none" : join_names(missing), unexpected.size(),
                       unexpected.empty() ? "none" : join_names(unexpected)));
  }
  return tensors;
}

void write_imported(const GgufFile& file, const ImportedTensor& tensor, int64_t head_dim, WeightFolderWriter& writer) {
  const GgufTensor& source = *tensor.source;
  const bool vector = source.shape.size() == 1;
  const int64_t rows = source.shape[0];
  const int64_t width = vector ? 1 : source.shape[1];
  const int64_t step = vector ? rows : tensor.interleaved ? head_dim : std::max<int64_t>(1, chunk_elements / width);
  std::vector<float> values(static_cast<size_t>(std::min(step, rows) * width));
  std::vector<float> ordered(tensor.interleaved ? values.size() : 0);
  for (int64_t row = 0; row < rows; row += step) {
    const int64_t part = std::min(step, rows - row);
    dequantize_rows(file.path(), source, row, vector ? 1 : part, values.data());
    for (int64_t head = 0; tensor.interleaved && head < part; head += head_dim) {
      to_half_split(values.data() + head * width, head_dim, width, ordered.data() + head * width);
    }
    writer.write(tensor.name, row * width, tensor.interleaved ? ordered.data() : values.data(), part * width, DType::float32);
  }
}

}  // namespace scantling
