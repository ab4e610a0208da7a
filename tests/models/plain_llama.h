// A Llama written once more from its formulas in float64 with LibTorch's plain operations: no blocks, no fused operations, no packing.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <map>

#include "scantling/models/description/llama.h"

namespace scantling::test {

class PlainLlama {
 public:
  PlainLlama(const LlamaConfig& config, std::map<std::string, at::Tensor> weights) : config_(config), weights_(std::move(weights)) {}

  // ids [B, T] int64 -> logits [B, T, V] float64
  at::Tensor logits(const at::Tensor& ids) const {
    auto x = at::embedding(weight("model.embed_tokens"), ids);
    for (int64_t layer = 0; layer < config_.layers; layer++) {
      const auto path = "model.layers." + std::to_string(layer) + ".";
      x = x + attend(norm(x, path + "input_layernorm"), path + "self_attn.");
      const auto h = norm(x, path + "post_attention_layernorm");
      x = x + project(at::silu(project(h, path + "mlp.gate_proj")) * project(h, path + "mlp.up_proj"), path + "mlp.down_proj");
    }
    return at::linear(norm(x, "model.norm"), weight(config_.tied ? "model.embed_tokens" : "lm_head"));
  }

 private:
  at::Tensor weight(const std::string& name) const { return weights_.at(name + ".weight").to(at::kDouble); }

  at::Tensor project(const at::Tensor& x, const std::string& name) const {
    const auto bias = weights_.find(name + ".bias");
    const auto y = at::linear(x, weight(name));
    return bias == weights_.end() ? y : y + bias->second.to(at::kDouble);
  }

  at::Tensor norm(const at::Tensor& x, const std::string& name) const {
    return x * at::rsqrt((x * x).mean(-1, true) + config_.rms_eps) * weight(name);
  }

  // [B, T, n*K] -> [B, n, T, K], turned by position where `turns`.
  at::Tensor heads(const at::Tensor& x, int64_t count, bool turns) const {
    const int64_t T = x.size(1), K = config_.head_dim;
    const auto h = x.view({x.size(0), T, count, K}).transpose(1, 2);
    if (!turns) return h;
    const auto exponent = at::arange(K / 2, at::kDouble) * (-2.0 / static_cast<double>(K));
    const auto angle = at::arange(T, at::kDouble).unsqueeze(1) * (exponent * std::log(config_.rope.theta)).exp();
    const auto a = h.narrow(3, 0, K / 2), b = h.narrow(3, K / 2, K / 2);
    return at::cat({a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()}, 3);
  }

  at::Tensor attend(const at::Tensor& x, const std::string& path) const {
    const int64_t T = x.size(1), each = config_.heads / config_.kv_heads;
    const auto q = heads(project(x, path + "q_proj"), config_.heads, true);
    const auto k = heads(project(x, path + "k_proj"), config_.kv_heads, true).repeat_interleave(each, 1);
    const auto v = heads(project(x, path + "v_proj"), config_.kv_heads, false).repeat_interleave(each, 1);
    const auto hidden = at::arange(T, at::kLong).view({1, T}) > at::arange(T, at::kLong).view({T, 1});
    const auto scores = at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(config_.head_dim));
    const auto mixed = at::matmul(at::softmax(scores.masked_fill(hidden, -INFINITY), -1), v);
    return project(mixed.transpose(1, 2).reshape({x.size(0), T, -1}), path + "o_proj");
  }

  LlamaConfig config_;
  std::map<std::string, at::Tensor> weights_;
};

}  // namespace scantling::test
