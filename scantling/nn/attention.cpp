// Attention by LibTorch's flash kernel for the CPU, one call per run of rows whose documents end alike: a row packed from several
// documents is cut at their starts, so attention never crosses a join and no mask is built. Documents are cut on the host inside the
// operation; shapes of its results do not depend on them.
#include <ATen/Parallel.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <tuple>

#include "scantling/memory/scope.h"
#include "scantling/nn/operations.h"
#include "scantling/nn/tensor_types.h"

namespace scantling::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Document {
  int64_t row, rows, begin, end;  // rows that share the cut, tokens [begin, end)
};

// starts [B, T]: constant within a document. Whole rows of one document are taken together.
std::vector<Document> documents_of(const at::Tensor& starts) {
  const int64_t B = starts.size(0), T = starts.size(1);
  const auto* start = starts.data_ptr<int64_t>();
  if (std::all_of(start, start + B * T, [](int64_t s) { return s == 0; })) return {{0, B, 0, T}};
  std::vector<Document> documents;
  for (int64_t row = 0; row < B; row++, start += T)
    for (int64_t begin = 0, t = 1; t <= T; t++)
      if (t == T || start[t] != start[begin]) {
        documents.push_back({row, 1, begin, t});
        begin = t;
      }
  return documents;
}

// The kernel's query and key blocks in floats, with room for the copies it keeps in bfloat16 (measured: at most half of this).
int64_t scratch_bound(int64_t T, int64_t K) {
  const int64_t queries = std::min<int64_t>(T, T >= 768 ? 256 : T >= 192 ? 64 : 32), keys = std::min<int64_t>(T, 512);
  return (4 * queries * keys + 4 * (queries + keys) * K + 4 * queries + 64) * 4 * at::get_num_threads();
}

// [B, T, heads*K] seen as [rows, heads, tokens, K]
at::Tensor heads_of(const at::Tensor& x, int64_t heads, const Document& d) {
  return x.view({x.size(0), x.size(1), heads, -1}).narrow(0, d.row, d.rows).narrow(1, d.begin, d.end - d.begin).transpose(1, 2);
}

struct Shapes {
  int64_t B, T, H, G, K;
};

void forward_document(const variable_list& in, const Document& d, const Shapes& s, at::Tensor& out, at::Tensor& lse_BHT) {
  auto [part, part_lse] =
      at::_scaled_dot_product_flash_attention_for_cpu(heads_of(in[0], s.H, d), heads_of(in[1], s.G, d), heads_of(in[2], s.G, d), 0.0, true);
  heads_of(out, s.H, d).copy_(part);
  lse_BHT.narrow(0, d.row, d.rows).narrow(2, d.begin, d.end - d.begin).copy_(part_lse);
}

// Key and value gradients of the query heads that share a head are added up in head order.
at::Tensor sum_groups(const at::Tensor& grad_bHtK, int64_t groups) {
  if (grad_bHtK.size(1) == groups) return grad_bHtK;
  const int64_t each = grad_bHtK.size(1) / groups;
  auto parts = grad_bHtK.unflatten(1, {groups, each});
  auto sum = parts.select(2, 0).clone();
  for (int64_t i = 1; i < each; i++) sum.add_(parts.select(2, i));
  return sum;
}

void backward_document(const variable_list& saved, const at::Tensor& dy, const Document& d, const Shapes& s, variable_list& grads) {
  const int64_t each = s.H / s.G;
  auto expand = [&](const at::Tensor& x) {
    auto heads = heads_of(x, s.G, d);
    return each == 1 ? heads : heads.repeat_interleave(each, 1);
  };
  auto lse = saved[5].narrow(0, d.row, d.rows).narrow(2, d.begin, d.end - d.begin);
  auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      heads_of(dy, s.H, d), heads_of(saved[0], s.H, d), expand(saved[1]), expand(saved[2]), heads_of(saved[4], s.H, d), lse, 0.0, true);
  heads_of(grads[0], s.H, d).copy_(dq);
  heads_of(grads[1], s.G, d).copy_(sum_groups(dk, s.G));
  heads_of(grads[2], s.G, d).copy_(sum_groups(dv, s.G));
}

struct Attention : torch::autograd::Function<Attention> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& starts,
                            int64_t heads, int64_t kv_heads) {
    ctx->set_materialize_grads(false);
    const Shapes s{q.size(0), q.size(1), heads, kv_heads, q.size(2) / heads};
    auto out = at::empty(q.sizes(), q.options());
    auto lse = at::empty({s.B, s.H, s.T}, q.options().dtype(at::kFloat));
    {
      ScratchScope scratch(scratch_bound(s.T, s.K) + out.nbytes() + lse.nbytes());
      if (!q.is_meta() && q.numel() > 0)
        for (const auto& document : documents_of(starts)) forward_document({q, k, v}, document, s, out, lse);
    }
    ctx->save_for_backward({q, k, v, starts, out, lse});
    ctx->saved_data["heads"] = heads;
    ctx->saved_data["kv_heads"] = kv_heads;
    return out;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    if (!gradients[0].defined()) return variable_list(6);
    auto saved = ctx->get_saved_variables();
    const int64_t H = ctx->saved_data["heads"].toInt(), G = ctx->saved_data["kv_heads"].toInt();
    const Shapes s{saved[0].size(0), saved[0].size(1), H, G, saved[0].size(2) / H};
    variable_list grads;
    for (int i = 0; i < 3; i++) grads.push_back(at::empty(saved[i].sizes(), saved[i].options()));
    {
      // expanded keys and values, their gradients, the query's, and one head group's sums
      ScratchScope scratch(scratch_bound(s.T, s.K) + 7 * saved[0].nbytes());
      if (!saved[0].is_meta() && saved[0].numel() > 0)
        for (const auto& document : documents_of(saved[3])) backward_document(saved, gradients[0], document, s, grads);
    }
    return {grads[0], grads[1], grads[2], {}, {}, {}};
  }
};

}  // namespace

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& starts, int64_t heads,
                     int64_t kv_heads) {
  return Attention::apply(q, k, v, starts, heads, kv_heads);
}

}  // namespace scantling::ops
