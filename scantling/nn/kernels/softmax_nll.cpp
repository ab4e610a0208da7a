// The cross-entropy's loops. LibTorch's own float32 log_softmax loses the tail of a large vocabulary (8e-6 of the loss at 49,152
// entries), so the sum of exponentials is taken in short float32 runs that are added up in double.
#include <cmath>

#include "scantling/nn/kernels/kernels.h"

namespace scantling::kernels {
namespace {

constexpr int lanes = 16;
constexpr int64_t run = 64 * lanes;

template <class T>
SCANTLING_INLINE float largest(const T* x, int64_t n) {
  float best[lanes];
  for (int l = 0; l < lanes; l++) best[l] = -INFINITY;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
#pragma omp simd
    for (int l = 0; l < lanes; l++) {
      const float v = load(x[i + l]);
      best[l] = v > best[l] ? v : best[l];
    }
  float top = -INFINITY;
  for (float b : best) top = b > top ? b : top;
  for (; i < n; i++) top = load(x[i]) > top ? load(x[i]) : top;
  return top;
}

template <class T>
SCANTLING_INLINE double sum_of_exponentials(const T* x, int64_t n, float top) {
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += run) {
    const int64_t end = begin + run < n ? begin + run : n;
    float acc[lanes] = {};
    int64_t i = begin;
    for (; i + lanes <= end; i += lanes)
#pragma omp simd
      for (int l = 0; l < lanes; l++) acc[l] += exponential(load(x[i + l]) - top);
    for (float a : acc) total += a;
    for (; i < end; i++) total += exponential(load(x[i]) - top);
  }
  return total;
}

template <class T>
SCANTLING_INLINE void forward(const T* logits, const int64_t* labels, float* nll, float* lse, int64_t rows, int64_t classes) {
  for (int64_t row = 0; row < rows; row++, logits += classes) {
    nll[row] = lse[row] = 0;
    if (labels[row] < 0) continue;
    const float top = largest(logits, classes);
    const double log_sum = std::log(sum_of_exponentials(logits, classes, top));
    // A NaN among the logits never wins a comparison in `largest`, but it does reach the sum.
    lse[row] = static_cast<float>(top + log_sum);
    nll[row] = static_cast<float>((static_cast<double>(top) - load(logits[labels[row]])) + log_sum);
  }
}

template <class T>
SCANTLING_INLINE void backward(T* logits, const int64_t* labels, const float* lse, const float* dnll, int64_t rows, int64_t classes) {
  for (int64_t row = 0; row < rows; row++, logits += classes) {
    const float scale = labels[row] < 0 ? 0.0f : dnll[row], shift = lse[row];
    if (labels[row] < 0) {
#pragma omp simd
      for (int64_t i = 0; i < classes; i++) store(logits[i], 0.0f);
      continue;
    }
    const float right = exponential(load(logits[labels[row]]) - shift) - 1.0f;
#pragma omp simd
    for (int64_t i = 0; i < classes; i++) store(logits[i], exponential(load(logits[i]) - shift) * scale);
    store(logits[labels[row]], right * scale);
  }
}

}  // namespace

SCANTLING_VECTORIZED void softmax_nll(const float* logits, const int64_t* labels, float* nll, float* lse, int64_t rows, int64_t classes) {
  forward(logits, labels, nll, lse, rows, classes);
}
SCANTLING_VECTORIZED void softmax_nll(const bf16* logits, const int64_t* labels, float* nll, float* lse, int64_t rows, int64_t classes) {
  forward(logits, labels, nll, lse, rows, classes);
}
SCANTLING_VECTORIZED void softmax_nll_backward(float* logits, const int64_t* labels, const float* lse, const float* dnll, int64_t rows,
                                               int64_t classes) {
  backward(logits, labels, lse, dnll, rows, classes);
}
SCANTLING_VECTORIZED void softmax_nll_backward(bf16* logits, const int64_t* labels, const float* lse, const float* dnll, int64_t rows,
                                               int64_t classes) {
  backward(logits, labels, lse, dnll, rows, classes);
}

}  // namespace scantling::kernels
