#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include "scantling/nn/kernels/kernels.h"
#include "scantling/nn/operations.h"
#include "scantling/nn/tensor_types.h"

namespace scantling::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct SwiGlu : torch::autograd::Function<SwiGlu> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& gate, const at::Tensor& up) {
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({gate, up});
    auto y = at::empty(gate.sizes(), gate.options());
    if (!gate.is_meta()) dispatch(gate, [&](auto* p) { kernels::swiglu(p, data_as(up, p), data_as(y, p), y.numel()); });
    return y;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    if (!gradients[0].defined()) return variable_list(2);
    auto saved = ctx->get_saved_variables();
    const auto &gate = saved[0], &up = saved[1];
    auto dgate = at::empty(gate.sizes(), gate.options()), dup = at::empty(up.sizes(), up.options());
    if (!gate.is_meta())
      dispatch(gate, [&](auto* p) {
        kernels::swiglu_backward(data_as(gradients[0], p), p, data_as(up, p), data_as(dgate, p), data_as(dup, p), gate.numel());
      });
    return {dgate, dup};
  }
};

}  // namespace

at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up) { return SwiGlu::apply(gate, up); }

}  // namespace scantling::ops
