#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include "scantling/nn/kernels/kernels.h"
#include "scantling/nn/operations.h"
#include "scantling/nn/tensor_types.h"

namespace scantling::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void turn(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, const at::Tensor& y, int64_t heads, float direction) {
  if (x.is_meta()) return;
  const int64_t half = cos.size(-1);
  dispatch(x, [&](auto* p) {
    kernels::rotary(p, cos.data_ptr<float>(), sin.data_ptr<float>(), data_as(y, p), cos.numel() / half, heads, 2 * half, direction);
  });
}

struct Rotary : torch::autograd::Function<Rotary> {
  static at::Tensor forward(AutogradContext* ctx, at::Tensor x, const at::Tensor& cos, const at::Tensor& sin, int64_t heads) {
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({cos, sin});
    ctx->saved_data["heads"] = heads;
    turn(x, cos, sin, x, heads, 1.0f);
    ctx->mark_dirty({x});
    return x;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    if (!gradients[0].defined()) return variable_list(4);
    auto saved = ctx->get_saved_variables();
    auto dx = at::empty(gradients[0].sizes(), gradients[0].options());
    turn(gradients[0], saved[0], saved[1], dx, ctx->saved_data["heads"].toInt(), -1.0f);
    return {dx, {}, {}, {}};
  }
};

}  // namespace

at::Tensor rotary(at::Tensor x, const at::Tensor& cos, const at::Tensor& sin, int64_t heads) {
  return Rotary::apply(std::move(x), cos, sin, heads);
}

}  // namespace scantling::ops
