#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include "scantling/memory/scope.h"
#include "scantling/nn/kernels/kernels.h"
#include "scantling/nn/operations.h"
#include "scantling/nn/tensor_types.h"

namespace scantling::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight, double eps) {
    ctx->set_materialize_grads(false);
    const int64_t width = x.size(-1), rows = x.numel() / width;
    auto y = at::empty(x.sizes(), x.options());
    auto rstd = at::empty({rows}, x.options().dtype(at::kFloat));
    if (!x.is_meta())
      dispatch(x, [&](auto* p) {
        kernels::rms_norm(p, data_as(weight, p), data_as(y, p), rstd.data_ptr<float>(), rows, width, static_cast<float>(eps));
      });
    ctx->save_for_backward({x, weight, rstd});
    return y;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    if (!gradients[0].defined()) return variable_list(3);
    auto saved = ctx->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1], &rstd = saved[2], &dy = gradients[0];
    const int64_t width = x.size(-1), rows = x.numel() / width;
    at::Tensor dx, dw;
    if (ctx->needs_input_grad(0)) dx = at::empty(x.sizes(), x.options());
    const GradientScope of_weights;
    if (ctx->needs_input_grad(1)) dw = at::empty(weight.sizes(), weight.options());
    if (x.is_meta()) return {dx, dw, {}};
    std::vector<float> sums(dw.defined() ? static_cast<size_t>(width) : 0);
    dispatch(x, [&](auto* p) {
      kernels::rms_norm_backward(data_as(dy, p), p, data_as(weight, p), rstd.data_ptr<float>(), dx.defined() ? data_as(dx, p) : nullptr,
                                 dw.defined() ? sums.data() : nullptr, rows, width);
      if (!dw.defined()) return;
      auto* to = data_as(dw, p);
      for (int64_t j = 0; j < width; j++) kernels::store(to[j], sums[static_cast<size_t>(j)]);
    });
    return {dx, dw, {}};
  }
};

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) { return RmsNorm::apply(x, weight, eps); }

}  // namespace scantling::ops
