// Blocks and rounding as in adamw.cpp.
#include "scantling/optim/sgd.h"

#include <algorithm>

#include "scantling/core/dtype.h"
#include "scantling/core/error.h"
#include "scantling/core/vectorized.h"

namespace scantling {
namespace {

constexpr int64_t block_elements = 1024;

struct Scalars {
  float gradient_scale, weight_decay, momentum, learning_rate;
};

SCANTLING_VECTORIZED void update_plain(float* __restrict weight, const float* __restrict gradient, int64_t count, Scalars s) {
  for (int64_t i = 0; i < count; ++i) {
    weight[i] -= s.learning_rate * (gradient[i] * s.gradient_scale + s.weight_decay * weight[i]);
  }
}

SCANTLING_VECTORIZED void update_with_momentum(float* __restrict weight, float* __restrict buffer, const float* __restrict gradient,
                                               int64_t count, Scalars s) {
  for (int64_t i = 0; i < count; ++i) {
    buffer[i] = s.momentum * buffer[i] + (gradient[i] * s.gradient_scale + s.weight_decay * weight[i]);
    weight[i] -= s.learning_rate * buffer[i];
  }
}

}  // namespace

void sgd_update(float* weight, float* buffer, const float* gradient, int64_t count, const SgdStep& step, uint16_t* bf16_copy) {
  check((buffer != nullptr) == (step.momentum != 0) || count == 0, "a momentum buffer exactly when there is momentum");
  const Scalars scalars{.gradient_scale = step.gradient_scale,
                        .weight_decay = static_cast<float>(step.weight_decay),
                        .momentum = static_cast<float>(step.momentum),
                        .learning_rate = static_cast<float>(step.learning_rate)};
  for (int64_t begin = 0; begin < count; begin += block_elements) {
    const int64_t length = std::min(block_elements, count - begin);
    if (buffer == nullptr) {
      update_plain(weight + begin, gradient + begin, length, scalars);
    } else {
      update_with_momentum(weight + begin, buffer + begin, gradient + begin, length, scalars);
    }
    if (bf16_copy != nullptr) convert(weight + begin, DType::float32, bf16_copy + begin, DType::bfloat16, length);
  }
}

}  // namespace scantling
