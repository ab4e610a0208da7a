// The operations blocks are written in. Each has a forward, a backward and a meta version that allocates the same tensors, so a block
// can be priced on meta and run on the CPU. Legend: B rows, T tokens, N = B*T or any leading dims, I in, O out, H heads, G key/value
// heads, K head size, V vocabulary. Activations and weights share one floating type (float32 or bfloat16).
// A tensor used more than once inside a block goes through fork(): left to itself autograd would add gradients that meet out of
// place on meta and in place on the CPU. Call them with the namespace, for LibTorch has functions of the same names.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace scantling::ops {

// `uses` views of x; their gradients are added up in use order into the first one's. The first use must be one whose gradient is
// freshly made (any operation but add).
std::vector<at::Tensor> fork(const at::Tensor& x, int uses);

at::Tensor add(const at::Tensor& a, const at::Tensor& b);  // equal shapes; the gradient goes to both unchanged

// x [..., I], weight [O, I], bias [O] or undefined -> [..., O]
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

// x [..., D], weight [D]; root mean square over the last dim.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

// ids [B, T] int64 in [0, V), weight [V, D] -> [B, T, D]
at::Tensor embedding(const at::Tensor& ids, const at::Tensor& weight);

// Rotates x [B, T, heads*K] in place by cos, sin [B, T, K/2] float32: element j of a head is paired with j + K/2.
at::Tensor rotary(at::Tensor x, const at::Tensor& cos, const at::Tensor& sin, int64_t heads);

// Causal attention: q [B, T, H*K], k and v [B, T, G*K] -> [B, T, H*K]. Query t of row b sees keys starts[b, t] to t
// (starts [B, T] int64, constant within a document). Query head h reads key/value head h / (H / G).
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& starts, int64_t heads,
                     int64_t kv_heads);

// silu(gate) * up, equal shapes
at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up);

// Negative log-likelihood of each label: x [N, D], weight [V, D], labels [N] int64 (-100: ignored, 0) -> [N] float32.
// The logits exist once, in the operands' type, and become their own gradient in place.
at::Tensor linear_cross_entropy(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& labels);

}  // namespace scantling::ops
