#include "scantling/nn/matmul.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <array>

#include "scantling/memory/scope.h"

namespace scantling::ops {
namespace {

// float32 goes to MKL, whose scratch never passes an allocator. bfloat16 goes to oneDNN, which packs panels of both operands.
int64_t scratch_bound(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() == at::kFloat) return 0;
  const int64_t panels = (a.numel() + b.numel()) * 2;
  return (int64_t{512} << 10) + std::min<int64_t>(panels, int64_t{4} << 20);
}

}  // namespace

at::Tensor matmul(const at::Tensor& a, const at::Tensor& b, at::IntArrayRef shape) {
  const std::array<int64_t, 2> flat{a.size(0), b.size(1)};
  auto out = at::empty(shape.empty() ? at::IntArrayRef(flat) : shape, a.options());
  ScratchScope scratch(scratch_bound(a, b));
  if (!a.is_meta() && out.numel() > 0) {
    auto rows = out.view(flat);
    at::mm_out(rows, a, b);
  }
  return out;
}

}  // namespace scantling::ops
