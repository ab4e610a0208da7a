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

struct LinearCrossEntropy : torch::autograd::Function<LinearCrossEntropy> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x_ND, const at::Tensor& weight_VD, const at::Tensor& labels_N) {
    ctx->set_materialize_grads(false);
    auto logits_NV = ops::matmul(x_ND, weight_VD.t());
    auto nll_N = at::empty({x_ND.size(0)}, x_ND.options().dtype(at::kFloat));
    auto lse_N = at::empty({x_ND.size(0)}, x_ND.options().dtype(at::kFloat));
    if (!x_ND.is_meta())
      dispatch(logits_NV, [&](auto* p) {
        kernels::softmax_nll(p, labels_N.data_ptr<int64_t>(), nll_N.data_ptr<float>(), lse_N.data_ptr<float>(), logits_NV.size(0),
                             logits_NV.size(1));
      });
    ctx->save_for_backward({x_ND, weight_VD, labels_N, logits_NV, lse_N});
    return nll_N;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    if (!gradients[0].defined()) return variable_list(3);
    auto saved = ctx->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1], &labels = saved[2], &logits = saved[3], &lse = saved[4];
    if (!x.is_meta())
      dispatch(logits, [&](auto* p) {
        kernels::softmax_nll_backward(p, labels.data_ptr<int64_t>(), lse.data_ptr<float>(), gradients[0].data_ptr<float>(), logits.size(0),
                                      logits.size(1));
      });
    at::Tensor dx, dw;
    if (ctx->needs_input_grad(0)) dx = ops::matmul(logits, weight);
    const GradientScope of_weights;
    if (ctx->needs_input_grad(1)) dw = ops::matmul(logits.t(), x);
    return {dx, dw, {}};
  }
};

}  // namespace

at::Tensor linear_cross_entropy(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& labels) {
  return LinearCrossEntropy::apply(x, weight, labels);
}

}  // namespace scantling::ops
