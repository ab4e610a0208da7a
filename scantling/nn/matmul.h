// Matrix products with counted scratch: the one place that calls LibTorch's GEMM.
#pragma once

#include <ATen/core/Tensor.h>

namespace scantling::ops {

// a [M, K] b [K, N], strides free -> [M, N], or a new tensor of `shape` with as many elements. The result is allocated on the rank's
// ledger; scratch is bounded.
at::Tensor matmul(const at::Tensor& a, const at::Tensor& b, at::IntArrayRef shape = {});

}  // namespace scantling::ops
