#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include "scantling/memory/scope.h"
#include "scantling/nn/kernels/kernels.h"
#include "scantling/nn/matmul.h"
#include "scantling/nn/operations.h"
#include "scantling/nn/tensor_types.h"

namespace scantling::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor as_rows(const at::Tensor& x) { return x.view({-1, x.size(-1)}); }

at::Tensor bias_gradient(const at::Tensor& dy_NO, const at::Tensor& weight_OI) {
  auto db = at::empty({weight_OI.size(0)}, weight_OI.options());
  if (dy_NO.is_meta()) return db;
  std::vector<float> sums(static_cast<size_t>(db.numel()));
  dispatch(dy_NO, [&](auto* p) {
    kernels::column_sums(p, sums.data(), dy_NO.size(0), dy_NO.size(1));
    auto* to = data_as(db, p);
    for (size_t j = 0; j < sums.size(); j++) kernels::store(to[j], sums[j]);
  });
  return db;
}

struct Linear : torch::autograd::Function<Linear> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({x, weight});
    ctx->saved_data["bias"] = bias.has_value();
    auto shape = x.sizes().vec();
    shape.back() = weight.size(0);
    auto y = ops::matmul(as_rows(x), weight.t(), shape);
    if (bias && !x.is_meta())
      dispatch(y, [&](auto* p) { kernels::add_bias(p, data_as(*bias, p), y.numel() / weight.size(0), weight.size(0)); });
    return y;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    if (!gradients[0].defined()) return variable_list(3);
    auto saved = ctx->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1];
    auto dy_NO = as_rows(gradients[0]);
    at::Tensor dx, dw, db;
    if (ctx->needs_input_grad(0)) dx = ops::matmul(dy_NO, weight, x.sizes());
    const GradientScope of_weights;
    if (ctx->needs_input_grad(1)) dw = ops::matmul(dy_NO.t(), as_rows(x));
    if (ctx->saved_data["bias"].toBool() && ctx->needs_input_grad(2)) db = bias_gradient(dy_NO, weight);
    return {dx, dw, db};
  }
};

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return Linear::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

}  // namespace scantling::ops
