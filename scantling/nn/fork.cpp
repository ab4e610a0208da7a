#include <torch/csrc/autograd/custom_function.h>

#include "scantling/nn/kernels/kernels.h"
#include "scantling/nn/operations.h"
#include "scantling/nn/tensor_types.h"

#include <ATen/ops/empty.h>

namespace scantling::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Fork : torch::autograd::Function<Fork> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& x, int64_t uses) {
    ctx->set_materialize_grads(false);
    variable_list out;
    for (int64_t i = 0; i < uses; i++) out.push_back(x.view(x.sizes()));
    return out;
  }

  static variable_list backward(AutogradContext*, variable_list gradients) {
    at::Tensor sum;
    for (auto& gradient : gradients) {
      if (!gradient.defined()) continue;
      if (!sum.defined())
        sum = gradient;
      else if (!sum.is_meta())
        dispatch(sum, [&](auto* p) { kernels::add_to(p, data_as(gradient, p), sum.numel()); });
      gradient.reset();
    }
    return {sum, {}};
  }
};

struct Add : torch::autograd::Function<Add> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& a, const at::Tensor& b) {
    ctx->set_materialize_grads(false);
    auto y = at::empty(a.sizes(), a.options());
    if (!a.is_meta()) dispatch(y, [&](auto* p) { kernels::add(data_as(a, p), data_as(b, p), p, y.numel()); });
    return y;
  }
  static variable_list backward(AutogradContext*, variable_list gradients) { return {gradients[0], gradients[0]}; }
};

}  // namespace

std::vector<at::Tensor> fork(const at::Tensor& x, int uses) { return Fork::apply(x, uses); }

at::Tensor add(const at::Tensor& a, const at::Tensor& b) { return Add::apply(a, b); }

}  // namespace scantling::ops
