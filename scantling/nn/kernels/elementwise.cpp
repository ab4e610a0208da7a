#include "scantling/nn/kernels/kernels.h"

namespace scantling::kernels {
namespace {

template <class T>
SCANTLING_INLINE void rotate(const T* x, const float* cos, const float* sin, T* y, int64_t rows, int64_t heads, int64_t d,
                             float direction) {
  const int64_t half = d / 2;
  for (int64_t row = 0; row < rows; row++, cos += half, sin += half)
    for (int64_t head = 0; head < heads; head++, x += d, y += d)
#pragma omp simd
      for (int64_t j = 0; j < half; j++) {
        const float a = load(x[j]), b = load(x[j + half]), s = sin[j] * direction;
        store(y[j], a * cos[j] - b * s);
        store(y[j + half], b * cos[j] + a * s);
      }
}

SCANTLING_INLINE float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }

template <class T>
SCANTLING_INLINE void glu(const T* gate, const T* up, T* y, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; i++) {
    const float g = load(gate[i]);
    store(y[i], g * sigmoid(g) * load(up[i]));
  }
}

template <class T>
SCANTLING_INLINE void glu_backward(const T* dy, const T* gate, const T* up, T* dgate, T* dup, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; i++) {
    const float g = load(gate[i]), d = load(dy[i]), s = sigmoid(g), silu = g * s;
    store(dup[i], d * silu);
    store(dgate[i], d * load(up[i]) * (s + silu * (1.0f - s)));
  }
}

template <class T>
SCANTLING_INLINE void sum(const T* a, const T* b, T* y, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; i++) store(y[i], load(a[i]) + load(b[i]));
}

template <class T>
SCANTLING_INLINE void columns(const T* x, float* sums, int64_t rows, int64_t width) {
  for (int64_t j = 0; j < width; j++) sums[j] = 0;
  for (int64_t row = 0; row < rows; row++, x += width)
#pragma omp simd
    for (int64_t j = 0; j < width; j++) sums[j] += load(x[j]);
}

}  // namespace

SCANTLING_VECTORIZED void rotary(const float* x, const float* cos, const float* sin, float* y, int64_t rows, int64_t heads, int64_t d,
                                 float direction) {
  rotate(x, cos, sin, y, rows, heads, d, direction);
}
SCANTLING_VECTORIZED void rotary(const bf16* x, const float* cos, const float* sin, bf16* y, int64_t rows, int64_t heads, int64_t d,
                                 float direction) {
  rotate(x, cos, sin, y, rows, heads, d, direction);
}
SCANTLING_VECTORIZED void swiglu(const float* gate, const float* up, float* y, int64_t count) { glu(gate, up, y, count); }
SCANTLING_VECTORIZED void swiglu(const bf16* gate, const bf16* up, bf16* y, int64_t count) { glu(gate, up, y, count); }
SCANTLING_VECTORIZED void swiglu_backward(const float* dy, const float* gate, const float* up, float* dgate, float* dup, int64_t count) {
  glu_backward(dy, gate, up, dgate, dup, count);
}
SCANTLING_VECTORIZED void swiglu_backward(const bf16* dy, const bf16* gate, const bf16* up, bf16* dgate, bf16* dup, int64_t count) {
  glu_backward(dy, gate, up, dgate, dup, count);
}
SCANTLING_VECTORIZED void add_to(float* y, const float* x, int64_t count) { sum(y, x, y, count); }
SCANTLING_VECTORIZED void add_to(bf16* y, const bf16* x, int64_t count) { sum(y, x, y, count); }
SCANTLING_VECTORIZED void add(const float* a, const float* b, float* y, int64_t count) { sum(a, b, y, count); }
SCANTLING_VECTORIZED void add(const bf16* a, const bf16* b, bf16* y, int64_t count) { sum(a, b, y, count); }
void add_bias(float* y, const float* b, int64_t rows, int64_t width) {
  for (int64_t row = 0; row < rows; row++) add_to(y + row * width, b, width);
}
void add_bias(bf16* y, const bf16* b, int64_t rows, int64_t width) {
  for (int64_t row = 0; row < rows; row++) add_to(y + row * width, b, width);
}
SCANTLING_VECTORIZED void column_sums(const float* x, float* sums, int64_t rows, int64_t width) { columns(x, sums, rows, width); }
SCANTLING_VECTORIZED void column_sums(const bf16* x, float* sums, int64_t rows, int64_t width) { columns(x, sums, rows, width); }

}  // namespace scantling::kernels
