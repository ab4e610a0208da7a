// The Llama blocks against the same model written from its formulas.
#include "scantling/models/llama.h"

#include <ATen/core/grad_mode.h>

#include "tests/models/plain_llama.h"
#include "tests/nn/compare.h"
#include "tests/support/tiny_llama.h"

namespace scantling {
namespace {

using test::expect_close;
using test::normal;
using test::odd_llama;
using test::tiny_llama;
using test::whole_numbers;

struct Built {
  LlamaConfig config;
  Model model;
  std::vector<at::Tensor> weights;
  std::map<std::string, at::Tensor> by_name;
};

Built build(const nlohmann::json& json) {
  Built built{parse_llama_config(json, "config.json"), {}, {}, {}};
  built.model = make_llama(built.config);
  uint64_t stream = 1;
  for (const auto& info : built.model.description.parameters) {
    built.weights.push_back(normal(info.shape, stream++) * 0.2 + (info.is_matrix() ? 0.0 : 1.0));
    built.by_name[info.name] = built.weights.back();
  }
  return built;
}

Bundle bundle_of(const at::Tensor& ids) {
  Bundle bundle;
  bundle.set("ids", ids, false);
  bundle.set("positions", at::arange(ids.size(1), at::kLong).unsqueeze(0).expand_as(ids).contiguous(), false);
  bundle.set("starts", at::empty(ids.sizes(), ids.options()).zero_(), false);
  return bundle;
}

Bundle run(const Built& built, Bundle bundle) {
  c10::NoGradGuard no_gradients;
  const RankView view(&built.weights);
  for (const auto& block : built.model.blocks) bundle = block->forward(bundle, view);
  return bundle;
}

const at::Tensor& some_ids() {
  static const auto ids = whole_numbers({2, 6}, {1, 200, 3, 255, 0, 7, 9, 9, 9, 100, 5, 4});
  return ids;
}

void expect_formula(nlohmann::json json) {
  const auto built = build(json);
  const auto actual = run(built, bundle_of(some_ids())).at("logits");
  expect_close(actual, test::PlainLlama(built.config, built.by_name).logits(some_ids()), 1e-5, json.dump());
}

nlohmann::json with(nlohmann::json json, const nlohmann::json& changes) {
  json.update(changes);
  return json;
}

TEST(Llama, LogitsEqualTheFormula) {
  expect_formula(tiny_llama());
  expect_formula(odd_llama());
  expect_formula(with(tiny_llama(), {{"rope_theta", 500000.0}, {"rms_norm_eps", 1e-2}}));
}

TEST(Llama, TiedHeadIsTheEmbedding) {
  expect_formula(tiny_llama(true));
  EXPECT_EQ(make_llama(parse_llama_config(tiny_llama(true), "")).description.index_of("lm_head.weight"), -1);
}

TEST(Llama, HeadSizeMayDifferFromHiddenOverHeads) {
  const auto json = with(tiny_llama(), {{"head_dim", 32}});
  expect_formula(json);
  const auto table = build(json).by_name;
  EXPECT_EQ(table.at("model.layers.0.self_attn.q_proj.weight").sizes(), at::IntArrayRef({128, 64}));
  EXPECT_EQ(table.at("model.layers.0.self_attn.o_proj.weight").sizes(), at::IntArrayRef({64, 128}));
  EXPECT_EQ(build(tiny_llama()).config.head_dim, 16);
}

TEST(Llama, BiasesEnterTheResult) {
  const auto json = with(tiny_llama(), {{"attention_bias", true}, {"mlp_bias", true}});
  expect_formula(json);
  auto built = build(json);
  const auto before = run(built, bundle_of(some_ids())).at("logits");
  for (const char* bias : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
    built.by_name.at("model.layers.1.self_attn." + std::string(bias) + ".bias").zero_();
    EXPECT_FALSE(run(built, bundle_of(some_ids())).at("logits").equal(before)) << bias;
  }
}

TEST(Llama, TokenLossIsTheLogitsLoss) {
  const auto built = build(tiny_llama());
  auto bundle = bundle_of(some_ids());
  const auto logits = run(built, bundle).at("logits").to(at::kDouble);
  const auto labels = whole_numbers({2, 6}, {200, 3, 255, 0, 7, -100, 9, 9, -100, 5, 4, -100});
  bundle.set("labels", labels, false);
  const auto loss = run(built, bundle).at("token_loss");
  const auto right = -at::softmax(logits, -1).log().gather(2, labels.clamp_min(0).unsqueeze(2)).squeeze(2);
  expect_close(loss, right.masked_fill(labels < 0, 0), 1e-5, "loss");
}

TEST(Llama, APackedRowGivesItsDocumentsLogits) {
  const auto built = build(tiny_llama());
  auto packed = bundle_of(whole_numbers({1, 5}, {8, 1, 200, 3, 4}));
  packed.set("starts", whole_numbers({1, 5}, {0, 0, 2, 2, 2}), false);
  packed.set("positions", whole_numbers({1, 5}, {0, 1, 0, 1, 2}), false);
  const auto together = run(built, packed).at("logits");
  expect_close(together.narrow(1, 0, 2), run(built, bundle_of(whole_numbers({1, 2}, {8, 1}))).at("logits"), 1e-6, "first");
  expect_close(together.narrow(1, 2, 3), run(built, bundle_of(whole_numbers({1, 3}, {200, 3, 4}))).at("logits"), 1e-6, "second");
}

TEST(Llama, OneTokenIsEnough) {
  const auto built = build(tiny_llama());
  const auto ids = whole_numbers({1, 1}, {5});
  expect_close(run(built, bundle_of(ids)).at("logits"), test::PlainLlama(built.config, built.by_name).logits(ids), 1e-5, "logits");
}

}  // namespace
}  // namespace scantling
