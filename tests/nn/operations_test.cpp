// Each operation against its formula in plain LibTorch operations.
#include "scantling/nn/operations.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>
#include <torch/csrc/autograd/function.h>

#include "tests/nn/compare.h"

namespace scantling {
namespace {

using test::expect_close;
using test::expect_equal;
using test::normal;
using test::Tensors;
using test::whole_numbers;

at::Tensor plain_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return x * at::rsqrt((x * x).mean(-1, true) + eps) * weight;
}

TEST(Linear, EqualsTheFormulaWithAndWithoutBias) {
  for (const int64_t rows : {1, 3, 33})
    for (const bool bias : {false, true}) {
      Tensors values{normal({2, rows, 24}, 1), normal({40, 24}, 2)};
      if (bias) values.push_back(normal({40}, 3));
      expect_equal([](const Tensors& in) { return ops::linear(in[0], in[1], in.size() > 2 ? in[2] : at::Tensor()); },
                   [](const Tensors& in) { return in.size() > 2 ? at::linear(in[0], in[1], in[2]) : at::linear(in[0], in[1]); }, values);
    }
}

TEST(RmsNorm, EqualsTheFormulaAtEveryWidth) {
  for (const int64_t width : {1, 15, 16, 61, 64, 576})
    expect_equal([](const Tensors& in) { return ops::rms_norm(in[0], in[1], 1e-5); },
                 [](const Tensors& in) { return plain_norm(in[0], in[1], 1e-5); }, {normal({2, 5, width}, 1), normal({width}, 2)});
}

TEST(RmsNorm, EpsilonKeepsZeroRowsFinite) {
  auto x = at::empty({2, 8}, at::TensorOptions().dtype(at::kFloat)).zero_();
  expect_close(ops::rms_norm(x, normal({8}, 1), 1e-5), x, 0, "zeros");
}

TEST(Embedding, RepeatedTokensAddTheirGradients) {
  const auto ids = whole_numbers({2, 4}, {3, 0, 3, 3, 6, 6, 0, 3});
  expect_equal([](const Tensors& in) { return ops::embedding(in[0], in[1]); },
               [](const Tensors& in) { return at::embedding(in[1], in[0]); }, {ids, normal({7, 12}, 1)});
}

TEST(Embedding, AnIdOutsideTheVocabularyIsRefused) {
  EXPECT_THROW(ops::embedding(whole_numbers({1, 1}, {7}), normal({7, 4}, 1)), std::logic_error);
  EXPECT_THROW(ops::embedding(whole_numbers({1, 1}, {-1}), normal({7, 4}, 1)), std::logic_error);
}

at::Tensor plain_rotary(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, int64_t heads) {
  const auto parts = x.view({x.size(0), x.size(1), heads, 2, -1});
  const auto c = cos.to(at::kDouble).unsqueeze(2), s = sin.to(at::kDouble).unsqueeze(2);
  const auto a = parts.select(3, 0), b = parts.select(3, 1);
  return at::cat({a * c - b * s, b * c + a * s}, -1).view(x.sizes());
}

TEST(Rotary, EqualsTheFormula) {
  const auto angle = normal({2, 5, 3}, 9);
  const auto cos = angle.cos(), sin = angle.sin();
  for (const int64_t heads : {1, 4})
    expect_equal([&](const Tensors& in) { return ops::rotary(in[0].clone(), cos, sin, heads); },
                 [&](const Tensors& in) { return plain_rotary(in[0], cos, sin, heads); }, {normal({2, 5, heads * 6}, 1)});
}

TEST(Rotary, TurnsInPlace) {
  const auto cos = normal({1, 2, 2}, 1), sin = normal({1, 2, 2}, 2);
  auto x = normal({1, 2, 4}, 3);
  EXPECT_EQ(ops::rotary(x, cos, sin, 1).data_ptr(), x.data_ptr());
}

TEST(SwiGlu, EqualsTheFormulaFarFromZeroToo) {
  auto gate = normal({3, 37}, 1) * 4;
  gate.data_ptr<float>()[0] = 80;
  gate.data_ptr<float>()[1] = -80;
  expect_equal([](const Tensors& in) { return ops::swiglu(in[0], in[1]); }, [](const Tensors& in) { return at::silu(in[0]) * in[1]; },
               {gate, normal({3, 37}, 2)});
}

TEST(Add, GradientGoesToBoth) {
  expect_equal([](const Tensors& in) { return ops::add(in[0], in[1]); }, [](const Tensors& in) { return in[0] + in[1]; },
               {normal({2, 19}, 1), normal({2, 19}, 2)});
}

TEST(Fork, GradientsOfAllUsesAreAdded) {
  const auto shared = [](const at::Tensor& x, const at::Tensor& w, bool fork) {
    const auto uses = fork ? ops::fork(x, 3) : Tensors(3, x);
    const auto one = fork ? ops::linear(uses[0], w) : at::linear(uses[0], w);
    const auto two = fork ? ops::swiglu(uses[1], one) : at::silu(uses[1]) * one;
    return fork ? ops::add(two, uses[2]) : two + uses[2];
  };
  expect_equal([&](const Tensors& in) { return shared(in[0], in[1], true); },
               [&](const Tensors& in) { return shared(in[0], in[1], false); }, {normal({4, 6}, 1), normal({6, 6}, 2)});
}

TEST(Operations, ZeroRowsGiveEmptyResultsAndZeroWeightGradients) {
  auto x = at::empty({0, 8}, at::TensorOptions().dtype(at::kFloat)).set_requires_grad(true);
  auto weight = normal({8, 8}, 1).set_requires_grad(true), scale = normal({8}, 2).set_requires_grad(true);
  const auto y = ops::linear(ops::rms_norm(ops::swiglu(x, x), scale, 1e-5), weight);
  EXPECT_EQ(y.sizes(), at::IntArrayRef({0, 8}));
  const auto gradients = torch::autograd::grad({y}, {weight, scale}, {at::empty({0, 8}, x.options().requires_grad(false))});
  for (const auto& gradient : gradients) EXPECT_EQ(gradient.abs().sum().item<float>(), 0);
}

// The names of the gradients an operation computes, as 1 (made) or 0, when only some inputs are trained.
std::vector<bool> gradients_made(const test::Function& function, const Tensors& values, size_t trained) {
  Tensors inputs;
  for (size_t i = 0; i < values.size(); i++) inputs.push_back(values[i].clone().set_requires_grad(i == trained));
  const auto y = function(inputs);
  std::vector<bool> made;
  for (const auto& gradient : y.grad_fn()->operator()({normal(y.sizes(), 5)})) made.push_back(gradient.defined());
  return made;
}

TEST(Operations, FrozenInputsGetNoGradient) {
  const test::Function linear = [](const Tensors& in) { return ops::linear(in[0], in[1], in[2]); };
  const test::Function norm = [](const Tensors& in) { return ops::rms_norm(in[0], in[1], 1e-5); };
  for (size_t trained = 0; trained < 3; trained++) {
    const auto made = gradients_made(linear, {normal({3, 4}, 1), normal({5, 4}, 2), normal({5}, 3)}, trained);
    for (size_t i = 0; i < 3; i++) EXPECT_EQ(made[i], i == trained) << "linear, input " << i << ", trained " << trained;
  }
  for (size_t trained = 0; trained < 2; trained++) {
    const auto made = gradients_made(norm, {normal({3, 4}, 1), normal({4}, 2)}, trained);
    for (size_t i = 0; i < 2; i++) EXPECT_EQ(made[i], i == trained) << "rms_norm, input " << i << ", trained " << trained;
  }
}

}  // namespace
}  // namespace scantling
