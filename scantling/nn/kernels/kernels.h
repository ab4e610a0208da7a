// The loops behind the fused operations, on contiguous host arrays of one rank. Elements are float32 or bfloat16, arithmetic is float32
// (sums that decide a loss are double). Each function exists for both element types. No allocation, no threads.
#pragma once

#include <cstdint>

#include "scantling/nn/kernels/simd.h"

namespace scantling::kernels {

// y = x * rstd * w with rstd = 1 / sqrt(mean(x^2) + eps) over each of `rows` rows of `width` (Zhang and Sennrich 2019).
void rms_norm(const float* x, const float* w, float* y, float* rstd, int64_t rows, int64_t width, float eps);
void rms_norm(const bf16* x, const bf16* w, bf16* y, float* rstd, int64_t rows, int64_t width, float eps);
// dx may be null; dw (float32, `width` sums, overwritten) may be null.
void rms_norm_backward(const float* dy, const float* x, const float* w, const float* rstd, float* dx, float* dw, int64_t rows,
                       int64_t width);
void rms_norm_backward(const bf16* dy, const bf16* x, const bf16* w, const float* rstd, bf16* dx, float* dw, int64_t rows, int64_t width);

// Rotates pairs (j, j + d/2) of every head of x [rows, heads, d] by the row's angles cos, sin [rows, d/2]; `direction` -1 turns back.
void rotary(const float* x, const float* cos, const float* sin, float* y, int64_t rows, int64_t heads, int64_t d, float direction);
void rotary(const bf16* x, const float* cos, const float* sin, bf16* y, int64_t rows, int64_t heads, int64_t d, float direction);

// y = silu(gate) * up (Shazeer 2020).
void swiglu(const float* gate, const float* up, float* y, int64_t count);
void swiglu(const bf16* gate, const bf16* up, bf16* y, int64_t count);
void swiglu_backward(const float* dy, const float* gate, const float* up, float* dgate, float* dup, int64_t count);
void swiglu_backward(const bf16* dy, const bf16* gate, const bf16* up, bf16* dgate, bf16* dup, int64_t count);

// Per row of logits [rows, classes]: lse = log(sum(exp(logits))), nll = lse - logits[label]; both 0 where label is -100.
void softmax_nll(const float* logits, const int64_t* labels, float* nll, float* lse, int64_t rows, int64_t classes);
void softmax_nll(const bf16* logits, const int64_t* labels, float* nll, float* lse, int64_t rows, int64_t classes);
// In place: logits become (softmax - onehot(label)) * dnll; 0 where label is -100.
void softmax_nll_backward(float* logits, const int64_t* labels, const float* lse, const float* dnll, int64_t rows, int64_t classes);
void softmax_nll_backward(bf16* logits, const int64_t* labels, const float* lse, const float* dnll, int64_t rows, int64_t classes);

// y += x
void add_to(float* y, const float* x, int64_t count);
void add_to(bf16* y, const bf16* x, int64_t count);
// y = a + b
void add(const float* a, const float* b, float* y, int64_t count);
void add(const bf16* a, const bf16* b, bf16* y, int64_t count);
// Adds b [width] to every row of y [rows, width].
void add_bias(float* y, const float* b, int64_t rows, int64_t width);
void add_bias(bf16* y, const bf16* b, int64_t rows, int64_t width);
// sums[j] = sum over rows of x[row, j]
void column_sums(const float* x, float* sums, int64_t rows, int64_t width);
void column_sums(const bf16* x, float* sums, int64_t rows, int64_t width);

}  // namespace scantling::kernels
