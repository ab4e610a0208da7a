// The fused head and loss: exact over a large vocabulary, silent where the label is ignored.
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "scantling/nn/operations.h"
#include "tests/nn/compare.h"

namespace scantling {
namespace {

using test::expect_close;
using test::expect_equal;
using test::normal;
using test::Tensors;
using test::whole_numbers;

at::Tensor plain_loss(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& labels) {
  const auto logits = at::matmul(x, weight.t());
  const auto right = logits.gather(1, labels.clamp_min(0).unsqueeze(1)).squeeze(1);
  const auto loss = at::logsumexp(logits, {1}) - right;
  return at::where(labels < 0, at::zeros_like(loss), loss);
}

TEST(CrossEntropy, EqualsTheFormulaWithIgnoredLabels) {
  for (const int64_t classes : {1, 2, 17, 300}) {
    const int64_t last = classes - 1;
    expect_equal([](const Tensors& in) { return ops::linear_cross_entropy(in[0], in[1], in[2]); },
                 [](const Tensors& in) { return plain_loss(in[0], in[1], in[2]); },
                 {normal({5, 12}, 1), normal({classes, 12}, 2) * 0.3, whole_numbers({5}, {0, last, -100, last / 2, -100})});
  }
}

// One entry dominates and the other 49,151 are the tail that short float32 sums lose.
TEST(CrossEntropy, IsExactOverALargeVocabulary) {
  constexpr int64_t classes = 49'152;
  auto weight = normal({classes, 2}, 3) * 0.5;
  weight.data_ptr<float>()[2 * 7] = 11.0f;
  const auto x = whole_numbers({3, 2}, {1, 0, 1, 1, 0, 1}).to(at::kFloat);
  const auto labels = whole_numbers({3}, {7, 7, 100});
  const auto actual = ops::linear_cross_entropy(x, weight, labels).to(at::kDouble);
  const auto expected = plain_loss(x.to(at::kDouble), weight.to(at::kDouble), labels);
  for (int64_t i = 0; i < 3; i++) {
    const double want = expected[i].item<double>();
    EXPECT_NEAR(actual[i].item<double>(), want, 1e-6 * want) << "row " << i;
  }
}

TEST(CrossEntropy, SoftmaxOverALargeVocabularySumsToOne) {
  constexpr int64_t classes = 49'152;
  auto x = normal({2, 4}, 1).set_requires_grad(true), weight = normal({classes, 4}, 2).set_requires_grad(true);
  const auto loss = ops::linear_cross_entropy(x, weight, whole_numbers({2}, {5, 6}));
  const auto gradient = torch::autograd::grad({loss}, {weight}, {normal({2}, 3).fill_(1)})[0];
  expect_close(gradient.to(at::kDouble).sum(0) + 1, gradient.to(at::kDouble).sum(0) * 0 + 1, 1e-5, "rows of the gradient sum to zero");
}

TEST(CrossEntropy, IgnoredRowsHaveNoLossAndNoGradient) {
  auto x = normal({2, 4}, 1).set_requires_grad(true), weight = normal({9, 4}, 2).set_requires_grad(true);
  const auto loss = ops::linear_cross_entropy(x, weight, whole_numbers({2}, {-100, -100}));
  EXPECT_EQ(loss.abs().sum().item<float>(), 0);
  for (const auto& gradient : torch::autograd::grad({loss}, {x, weight}, {normal({2}, 3)}))
    EXPECT_EQ(gradient.abs().sum().item<float>(), 0);
}

TEST(CrossEntropy, LargeLogitsStayFinite) {
  const auto x = normal({2, 4}, 1) * 1000, weight = normal({9, 4}, 2) * 10;
  const auto labels = whole_numbers({2}, {0, 8});
  expect_close(ops::linear_cross_entropy(x, weight, labels), plain_loss(x.to(at::kDouble), weight.to(at::kDouble), labels), 1e-6, "loss");
}

TEST(CrossEntropy, ANotANumberShowsInTheLoss) {
  auto x = normal({2, 4}, 1);
  x.data_ptr<float>()[5] = std::nanf("");
  const auto loss = ops::linear_cross_entropy(x, normal({40, 4}, 2), whole_numbers({2}, {0, 8}));
  EXPECT_TRUE(std::isfinite(loss[0].item<float>()));
  EXPECT_FALSE(std::isfinite(loss[1].item<float>())) << loss[1].item<float>();
}

TEST(CrossEntropy, NoRowsGiveNoLoss) {
  auto weight = normal({9, 4}, 2).set_requires_grad(true);
  const auto loss = ops::linear_cross_entropy(normal({0, 4}, 1), weight, whole_numbers({0}, {}));
  EXPECT_EQ(loss.numel(), 0);
  EXPECT_EQ(torch::autograd::grad({loss}, {weight}, {normal({0}, 3)})[0].abs().sum().item<float>(), 0);
}

}  // namespace
}  // namespace scantling
