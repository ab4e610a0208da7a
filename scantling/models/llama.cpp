// Llama: token embedding, pre-norm decoder layers with grouped-query attention and SwiGLU, final norm and head.
// Legend: B rows, T tokens, D hidden, F intermediate, H query heads, G key/value heads, K head size.
#include "scantling/models/llama.h"

#include "scantling/models/rotary_angles.h"
#include "scantling/nn/operations.h"

namespace scantling {
namespace {

class Embedding : public Block {
 public:
  Embedding(const LlamaConfig& config, Parameter weight) : rope_(config.rope), head_dim_(config.head_dim), weight_(weight) {}

  Bundle forward(const Bundle& in, const RankView& view) const override {
    Bundle out = in;
    auto [cos, sin] = rotary_angles(rope_, head_dim_, in.at("positions"));
    out.set("cos", cos, false);
    out.set("sin", sin, false);
    out.set("x", ops::embedding(in.at("ids"), view(weight_)), true);
    return out;
  }

 private:
  RopeConfig rope_;
  int64_t head_dim_;
  Parameter weight_;  // [V, D]
};

struct Projection {
  Parameter weight;  // [O, I]
  Parameter bias;    // [O], or undefined
  at::Tensor operator()(const at::Tensor& x, const RankView& view) const { return ops::linear(x, view(weight), view(bias)); }
};

class DecoderLayer : public Block {
 public:
  DecoderLayer(const LlamaConfig& config, const ModelDescription& table, const std::string& path)
      : heads_(config.heads), kv_heads_(config.kv_heads), eps_(config.rms_eps) {
    auto projection = [&](const std::string& name) {
      return Projection{{table.index_of(path + "." + name + ".weight")}, {table.index_of(path + "." + name + ".bias")}};
    };
    q_ = projection("self_attn.q_proj");
    k_ = projection("self_attn.k_proj");
    v_ = projection("self_attn.v_proj");
    o_ = projection("self_attn.o_proj");
    gate_ = projection("mlp.gate_proj");
    up_ = projection("mlp.up_proj");
    down_ = projection("mlp.down_proj");
    input_norm_.index = table.index_of(path + ".input_layernorm.weight");
    mlp_norm_.index = table.index_of(path + ".post_attention_layernorm.weight");
  }

  Bundle forward(const Bundle& in, const RankView& view) const override {
    Bundle out = in;
    out.set("x", mlp(attend(in.at("x"), in, view), view), true);
    return out;
  }

 private:
  at::Tensor attend(const at::Tensor& x_BTD, const Bundle& in, const RankView& view) const {
    auto x = ops::fork(x_BTD, 2);
    auto h = ops::fork(ops::rms_norm(x[0], view(input_norm_), eps_), 3);
    auto q_BTHK = ops::rotary(q_(h[0], view), in.at("cos"), in.at("sin"), heads_);
    auto k_BTGK = ops::rotary(k_(h[1], view), in.at("cos"), in.at("sin"), kv_heads_);
    auto v_BTGK = v_(h[2], view);
    return ops::add(x[1], o_(ops::attention(q_BTHK, k_BTGK, v_BTGK, in.at("starts"), heads_, kv_heads_), view));
  }

  at::Tensor mlp(const at::Tensor& x_BTD, const RankView& view) const {
    auto x = ops::fork(x_BTD, 2);
    auto h = ops::fork(ops::rms_norm(x[0], view(mlp_norm_), eps_), 2);
    return ops::add(x[1], down_(ops::swiglu(gate_(h[0], view), up_(h[1], view)), view));
  }

  int64_t heads_, kv_heads_;
  double eps_;
  Parameter input_norm_, mlp_norm_;  // [D]
  Projection q_, k_, v_, o_, gate_, up_, down_;
};

class Head : public Block {
 public:
  Head(const LlamaConfig& config, const ModelDescription& table) : eps_(config.rms_eps) {
    norm_.index = table.index_of("model.norm.weight");
    weight_.index = table.index_of(config.tied ? "model.embed_tokens.weight" : "lm_head.weight");
  }

  Bundle forward(const Bundle& in, const RankView& view) const override {
    Bundle out;
    auto h_BTD = ops::rms_norm(in.at("x"), view(norm_), eps_);
    if (const auto* labels_BT = in.find("labels")) {
      auto h_ND = h_BTD.view({-1, h_BTD.size(-1)});
      out.set("token_loss", ops::linear_cross_entropy(h_ND, view(weight_), labels_BT->view({-1})).view(labels_BT->sizes()), true);
    } else {
      out.set("logits", ops::linear(h_BTD, view(weight_)), true);
    }
    return out;
  }

 private:
  double eps_;
  Parameter norm_, weight_;  // [D], [V, D]
};

}  // namespace

Model make_llama(const LlamaConfig& config) {
  Model model;
  model.description = describe_llama(config);
  const auto& table = model.description;
  model.blocks.push_back(std::make_unique<Embedding>(config, Parameter{table.index_of("model.embed_tokens.weight")}));
  for (size_t b = 1; b + 1 < table.blocks.size(); b++)
    model.blocks.push_back(std::make_unique<DecoderLayer>(config, table, table.blocks[b].name));
  model.blocks.push_back(std::make_unique<Head>(config, table));
  return model;
}

}  // namespace scantling
