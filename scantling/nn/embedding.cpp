// Rows of the gradient that belong to a token used several times are summed in float32 and rounded once, in the order of use.
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "scantling/memory/scope.h"
#include "scantling/nn/kernels/kernels.h"
#include "scantling/nn/operations.h"
#include "scantling/nn/tensor_types.h"

namespace scantling::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

template <class T>
void scatter_rows(const int64_t* ids, int64_t count, const T* dy, T* dw, int64_t width) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return ids[a] < ids[b]; });
  std::vector<float> sum(static_cast<size_t>(width));
  for (size_t i = 0; i < order.size();) {
    const int64_t id = ids[order[i]];
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (; i < order.size() && ids[order[i]] == id; i++)
      for (int64_t j = 0; j < width; j++) sum[static_cast<size_t>(j)] += kernels::load(dy[order[i] * width + j]);
    for (int64_t j = 0; j < width; j++) kernels::store(dw[id * width + j], sum[static_cast<size_t>(j)]);
  }
}

struct Embedding : torch::autograd::Function<Embedding> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& ids, const at::Tensor& weight) {
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({ids});
    ctx->saved_data["rows"] = weight.size(0);
    const int64_t width = weight.size(1);
    auto y = at::empty({ids.size(0), ids.size(1), width}, weight.options());
    if (ids.is_meta()) return y;
    const auto* id = ids.data_ptr<int64_t>();
    const auto row_bytes = static_cast<size_t>(width * weight.element_size());
    for (int64_t n = 0; n < ids.numel(); n++) {
      check(id[n] >= 0 && id[n] < weight.size(0), "embedding: a token id outside the vocabulary");
      std::memcpy(static_cast<char*>(y.data_ptr()) + n * row_bytes, static_cast<const char*>(weight.data_ptr()) + id[n] * row_bytes,
                  row_bytes);
    }
    return y;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    if (!gradients[0].defined()) return variable_list(2);
    auto ids = ctx->get_saved_variables()[0];
    const auto& dy = gradients[0];
    const GradientScope of_weights;
    auto dw = at::empty({ctx->saved_data["rows"].toInt(), dy.size(-1)}, dy.options());
    if (dy.is_meta()) return {{}, dw};
    std::memset(dw.data_ptr(), 0, dw.nbytes());
    dispatch(dy, [&](auto* p) { scatter_rows(ids.data_ptr<int64_t>(), ids.numel(), p, data_as(dw, p), dy.size(-1)); });
    return {{}, dw};
  }
};

}  // namespace

at::Tensor embedding(const at::Tensor& ids, const at::Tensor& weight) { return Embedding::apply(ids, weight); }

}  // namespace scantling::ops
