// Matrix products with counted scratch: the one place that calls LibTorch's GEMM.
#pragma once

#include <ATen/core/Tensor.h>

namespace scantling::ops {

// out [M, N] = a [M, K] b [K, N]; strides of a and b are free. `out` is allocated on the rank's ledger; scratch is bounded.
at::Tensor matmul(const at::Tensor& a, const at::Tensor& b);

}  // namespace scantling::ops
