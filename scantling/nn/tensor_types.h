// Scantling's element types as LibTorch's, and raw pointers for the kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include "scantling/core/dtype.h"
#include "scantling/core/error.h"
#include "scantling/nn/kernels/simd.h"

namespace scantling {

at::ScalarType scalar_type_of(DType dtype);
DType dtype_of(at::ScalarType type);

// Calls `f` with pointers of the kernels' element type: dispatch(x, [&](auto* p) {...}) gives float* or kernels::bf16*.
template <class F>
void dispatch(const at::Tensor& tensor, F f) {
  if (tensor.scalar_type() == at::kFloat)
    f(tensor.data_ptr<float>());
  else if (tensor.scalar_type() == at::kBFloat16)
    f(reinterpret_cast<kernels::bf16*>(tensor.data_ptr()));
  else
    check(false, "dispatch: float32 and bfloat16 are the element types of fused operations");
}

// The tensor's data as the type `like` points to.
template <class T>
T* data_as(const at::Tensor& tensor, T* /*like*/) {
  return static_cast<T*>(tensor.data_ptr());
}

}  // namespace scantling
