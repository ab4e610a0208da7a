#include <cmath>

#include "scantling/nn/kernels/kernels.h"

namespace scantling::kernels {
namespace {

constexpr int lanes = 16;

template <class F>
SCANTLING_INLINE double sum_lanes(int64_t width, F term) {  // fixed order, so a row's bits do not depend on where it lies
  float acc[lanes] = {};
  int64_t j = 0;
  for (; j + lanes <= width; j += lanes)
#pragma omp simd
    for (int l = 0; l < lanes; l++) acc[l] += term(j + l);
  double total = 0;
  for (float part : acc) total += part;
  for (; j < width; j++) total += term(j);
  return total;
}

template <class T>
SCANTLING_INLINE void forward(const T* x, const T* w, T* y, float* rstd, int64_t rows, int64_t width, float eps) {
  for (int64_t row = 0; row < rows; row++, x += width, y += width) {
    const double squares = sum_lanes(width, [&](int64_t j) { return load(x[j]) * load(x[j]); });
    const float scale = rstd[row] = static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(width) + eps));
#pragma omp simd
    for (int64_t j = 0; j < width; j++) store(y[j], load(x[j]) * scale * load(w[j]));
  }
}

template <class T>
SCANTLING_INLINE void backward(const T* dy, const T* x, const T* w, const float* rstd, T* dx, float* dw, int64_t rows, int64_t width) {
  if (dw)
    for (int64_t j = 0; j < width; j++) dw[j] = 0;
  for (int64_t row = 0; row < rows; row++, x += width, dy += width) {
    const float scale = rstd[row];
    if (dw) {
#pragma omp simd
      for (int64_t j = 0; j < width; j++) dw[j] += load(dy[j]) * load(x[j]) * scale;
    }
    if (!dx) continue;
    const double dot = sum_lanes(width, [&](int64_t j) { return load(dy[j]) * load(w[j]) * load(x[j]); });
    const float shrink = static_cast<float>(dot / static_cast<double>(width)) * scale * scale;
    T* out = dx + row * width;
#pragma omp simd
    for (int64_t j = 0; j < width; j++) store(out[j], (load(dy[j]) * load(w[j]) - load(x[j]) * shrink) * scale);
  }
}

}  // namespace

SCANTLING_VECTORIZED void rms_norm(const float* x, const float* w, float* y, float* rstd, int64_t rows, int64_t width, float eps) {
  forward(x, w, y, rstd, rows, width, eps);
}
SCANTLING_VECTORIZED void rms_norm(const bf16* x, const bf16* w, bf16* y, float* rstd, int64_t rows, int64_t width, float eps) {
  forward(x, w, y, rstd, rows, width, eps);
}
SCANTLING_VECTORIZED void rms_norm_backward(const float* dy, const float* x, const float* w, const float* rstd, float* dx, float* dw,
                                            int64_t rows, int64_t width) {
  backward(dy, x, w, rstd, dx, dw, rows, width);
}
SCANTLING_VECTORIZED void rms_norm_backward(const bf16* dy, const bf16* x, const bf16* w, const float* rstd, bf16* dx, float* dw,
                                            int64_t rows, int64_t width) {
  backward(dy, x, w, rstd, dx, dw, rows, width);
}

}  // namespace scantling::kernels
