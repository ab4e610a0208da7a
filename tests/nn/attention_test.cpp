// Attention against scores, mask and soft-max written out; packed rows against their documents alone.
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

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

at::Tensor zeros(int64_t B, int64_t T) { return at::empty({B, T}, at::TensorOptions().dtype(at::kLong)).zero_(); }

at::Tensor plain_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& starts, int64_t H, int64_t G) {
  const int64_t B = q.size(0), T = q.size(1);
  const auto heads = [&](const at::Tensor& x, int64_t n) { return x.view({B, T, n, -1}).transpose(1, 2).repeat_interleave(H / n, 1); };
  const auto scores = at::matmul(heads(q, H), heads(k, G).transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(2) / H));
  const auto key = at::arange(T, at::kLong).view({1, 1, 1, T}), query = at::arange(T, at::kLong).view({1, 1, T, 1});
  const auto hidden = (key > query).logical_or(key < starts.view({B, 1, T, 1}));
  const auto seen = at::softmax(scores.masked_fill(hidden, -INFINITY), -1);
  return at::matmul(seen, heads(v, G)).transpose(1, 2).reshape(q.sizes());
}

void expect_attention(int64_t B, int64_t T, int64_t H, int64_t G, int64_t K, const at::Tensor& starts) {
  SCOPED_TRACE(testing::Message() << "B " << B << " T " << T << " H " << H << " G " << G << " K " << K);
  expect_equal([&](const Tensors& in) { return ops::attention(in[0], in[1], in[2], starts, H, G); },
               [&](const Tensors& in) { return plain_attention(in[0], in[1], in[2], starts, H, G); },
               {normal({B, T, H * K}, 1), normal({B, T, G * K}, 2), normal({B, T, G * K}, 3)});
}

TEST(Attention, EqualsTheFormulaForEveryGrouping) {
  for (const auto& [heads, groups] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {4, 4}, {4, 2}, {6, 1}, {9, 3}})
    expect_attention(2, 17, heads, groups, 8, zeros(2, 17));
}

TEST(Attention, EqualsTheFormulaAtEveryLength) {
  for (const int64_t length : {1, 2, 31, 32, 33, 200, 520}) expect_attention(1, length, 2, 1, 16, zeros(1, length));
}

TEST(Attention, OddHeadSizesWork) {
  for (const int64_t size : {2, 6, 10, 128}) expect_attention(1, 9, 3, 1, size, zeros(1, 9));
}

TEST(Attention, SeesItsOwnDocumentOnly) { expect_attention(2, 6, 4, 2, 8, whole_numbers({2, 6}, {0, 0, 2, 2, 2, 5, 0, 0, 0, 0, 4, 4})); }

TEST(Attention, APackedRowEqualsItsDocumentsAlone) {
  const auto q = normal({1, 7, 32}, 1), k = normal({1, 7, 16}, 2), v = normal({1, 7, 16}, 3);
  const auto packed = ops::attention(q, k, v, whole_numbers({1, 7}, {0, 0, 0, 3, 3, 3, 3}), 4, 2);
  Tensors alone;
  for (const auto& [begin, count] : std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {3, 4}}) {
    const auto cut = [&, b = begin, n = count](const at::Tensor& x) { return x.narrow(1, b, n).contiguous(); };
    alone.push_back(ops::attention(cut(q), cut(k), cut(v), zeros(1, count), 4, 2));
  }
  EXPECT_TRUE(packed.equal(at::cat(alone, 1)));
}

TEST(Attention, LaterTokensDoNotChangeEarlierResults) {
  auto k = normal({1, 8, 16}, 2), v = normal({1, 8, 16}, 3), q = normal({1, 8, 16}, 1);
  const auto before = ops::attention(q, k, v, zeros(1, 8), 2, 2);
  k.select(1, 7).fill_(100);
  v.select(1, 7).fill_(-100);
  const auto after = ops::attention(q, k, v, zeros(1, 8), 2, 2);
  expect_close(after.narrow(1, 0, 7), before.narrow(1, 0, 7), 0, "tokens 0 to 6");
  EXPECT_FALSE(after.select(1, 7).equal(before.select(1, 7)));
}

TEST(Attention, NoRowsGiveNoResult) {
  const auto q = normal({0, 4, 16}, 1).set_requires_grad(true);
  const auto y = ops::attention(q, q, q, zeros(0, 4), 2, 2);
  EXPECT_EQ(y.sizes(), at::IntArrayRef({0, 4, 16}));
  EXPECT_EQ(torch::autograd::grad({y}, {q}, {normal({0, 4, 16}, 1)})[0].numel(), 0);
}

}  // namespace
}  // namespace scantling
