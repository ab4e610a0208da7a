// An operation allocates on meta what it allocates on the CPU, change by change, and its kernels stay within the bound it names.
#include "scantling/memory/allocator.h"
#include "scantling/memory/scope.h"
#include "scantling/nn/operations.h"
#include "tests/nn/compare.h"

namespace scantling {
namespace {

using test::Function;
using test::normal;
using test::Tensors;
using test::whole_numbers;
using Changes = std::vector<int64_t>;

// Forward and backward on a ledger; the changes in order.
Changes changes_of(Ledger& ledger, const Function& function, const Tensors& values) {
  Tensors inputs, wanted;
  for (const auto& value : values) {
    inputs.push_back(value.detach());
    if (value.is_floating_point()) wanted.push_back(inputs.back().set_requires_grad(true));
  }
  ledger.keep_events();
  {
    MemoryScope scope(&ledger, Category::activations, "operation");
    auto y = function(inputs);
    at::Tensor direction = at::empty(y.sizes(), y.options().requires_grad(false));
    if (!y.is_meta()) direction.fill_(1);
    auto gradients = torch::autograd::grad({y}, wanted, {direction});
    y.reset();
  }
  Changes changes;
  for (const auto& event : ledger.events()) changes.push_back(event.delta_bytes);
  return changes;
}

void expect_priced(const Function& function, const Tensors& values, const std::string& what) {
  install_allocators();
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    Tensors real, meta;
    for (const auto& value : values) {
      real.push_back(value.is_floating_point() ? value.to(type).clone() : value);
      meta.push_back(at::empty(value.sizes(), real.back().options().device(c10::kMeta)));
    }
    Ledger priced(0), measured(0);
    const auto planned = changes_of(priced, function, meta);
    measured.reserve_workspace(priced.wanted_workspace_bytes());
    Changes run;
    ASSERT_NO_THROW(run = changes_of(measured, function, real)) << what << ", " << at::toString(type);
    EXPECT_EQ(planned, run) << what << ", " << at::toString(type);
    EXPECT_EQ(priced.peak().bytes + priced.wanted_workspace_bytes(), measured.peak().bytes) << what << ", " << at::toString(type);
    EXPECT_EQ(priced.current_bytes(), 0) << what;
  }
}

TEST(Pricing, ElementwiseOperationsAllocateOnMetaAsOnTheCpu) {
  const auto x = normal({2, 9, 24}, 1), y = normal({2, 9, 24}, 2);
  expect_priced([](const Tensors& in) { return ops::add(in[0], in[1]); }, {x, y}, "add");
  expect_priced([](const Tensors& in) { return ops::swiglu(in[0], in[1]); }, {x, y}, "swiglu");
  expect_priced([](const Tensors& in) { return ops::rms_norm(in[0], in[1], 1e-5); }, {x, normal({24}, 3)}, "rms_norm");
  expect_priced(
      [](const Tensors& in) {
        auto u = ops::fork(in[0], 2);
        return ops::add(ops::swiglu(u[0], in[1]), u[1]);
      },
      {x, y}, "fork");
  expect_priced([](const Tensors& in) { return ops::embedding(in[0], in[1]); }, {whole_numbers({2, 2}, {0, 1, 2, 1}), normal({3, 24}, 4)},
                "embedding");
  expect_priced(
      [](const Tensors& in) {
        const auto angles = at::empty({2, 9, 3}, in[0].options().dtype(at::kFloat));
        return ops::rotary(ops::add(in[0], in[1]), angles, angles, 4);
      },
      {x, y}, "rotary");
}

TEST(Pricing, ProductsAllocateOnMetaAsOnTheCpu) {
  for (const int64_t rows : {1, 2, 31, 64, 500})
    for (const int64_t width : {8, 61, 576}) {
      const auto x = normal({rows, width}, 1);
      const auto what = std::to_string(rows) + " x " + std::to_string(width);
      expect_priced([](const Tensors& in) { return ops::linear(in[0], in[1], in[2]); },
                    {x, normal({3 * width, width}, 2), normal({3 * width}, 3)}, "linear " + what);
      expect_priced([](const Tensors& in) { return ops::linear_cross_entropy(in[0], in[1], in[2]); },
                    {x, normal({777, width}, 2), whole_numbers({rows}, Changes(static_cast<size_t>(rows), 5))}, "cross-entropy " + what);
    }
}

void expect_attention_priced(int64_t B, int64_t T, int64_t H, int64_t G, int64_t K, const at::Tensor& starts) {
  const Function attention = [&](const Tensors& in) { return ops::attention(in[0], in[1], in[2], in[3], H, G); };
  expect_priced(attention, {normal({B, T, H * K}, 1), normal({B, T, G * K}, 2), normal({B, T, G * K}, 3), starts},
                "attention B " + std::to_string(B) + " T " + std::to_string(T) + " K " + std::to_string(K));
}

at::Tensor zeros(int64_t B, int64_t T) { return at::empty({B, T}, at::TensorOptions().dtype(at::kLong)).zero_(); }

TEST(Pricing, AttentionStaysWithinItsBoundAtEveryLength) {
  for (const int64_t T : {1, 2, 31, 32, 33, 63, 191, 192, 193, 511, 512, 513, 767, 768, 769, 1024})
    for (const int64_t K : {8, 128}) expect_attention_priced(1, T, 2, 1, K, zeros(1, T));
  expect_attention_priced(1, 2048, 1, 1, 64, zeros(1, 2048));
  expect_attention_priced(5, 96, 9, 3, 64, zeros(5, 96));
}

TEST(Pricing, AttentionOfPackedRowsStaysWithinItsBound) {
  for (const int64_t T : {3, 40, 600}) {
    auto starts = zeros(2, T);
    starts.narrow(1, T / 3, T - T / 3).fill_(T / 3);
    expect_attention_priced(2, T, 4, 2, 16, starts);
  }
}

}  // namespace
}  // namespace scantling
