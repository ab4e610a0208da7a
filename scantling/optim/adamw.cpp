// The scalars of a step are computed in double and rounded once. The range is walked in blocks small enough that the bfloat16 copy
// reads weights that are still in the first-level cache. The loop vectorises because the build neither fuses products into sums
// (-ffp-contract=off, which equal bits on all machines need) nor lets square roots set errno (-fno-math-errno).
#include "scantling/optim/adamw.h"

#include <algorithm>
#include <cmath>

#include "scantling/core/dtype.h"
#include "scantling/core/error.h"
#include "scantling/core/vectorized.h"

namespace scantling {
namespace {

constexpr int64_t block_elements = 1024;

struct Scalars {
  float gradient_scale, keep, beta1, beta1_rest, beta2, beta2_rest, step_size, bias_correction2_sqrt, epsilon;
};

Scalars scalars_of(const AdamWStep& step) {
  return {.gradient_scale = step.gradient_scale,
          .keep = static_cast<float>(1 - step.learning_rate * step.weight_decay),
          .beta1 = static_cast<float>(step.beta1),
          .beta1_rest = static_cast<float>(1 - step.beta1),
          .beta2 = static_cast<float>(step.beta2),
          .beta2_rest = static_cast<float>(1 - step.beta2),
          .step_size = static_cast<float>(step.learning_rate / step.bias_correction1),
          .bias_correction2_sqrt = static_cast<float>(step.bias_correction2_sqrt),
          .epsilon = static_cast<float>(step.epsilon)};
}

SCANTLING_VECTORIZED void update_block(float* __restrict weight, float* __restrict m, float* __restrict v, const float* __restrict gradient,
                                       int64_t count, Scalars s) {
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] * s.gradient_scale;
    const float new_m = s.beta1 * m[i] + s.beta1_rest * g;
    const float new_v = s.beta2 * v[i] + s.beta2_rest * g * g;
    m[i] = new_m;
    v[i] = new_v;
    weight[i] = weight[i] * s.keep - s.step_size * new_m / (std::sqrt(new_v) / s.bias_correction2_sqrt + s.epsilon);
  }
}

}  // namespace

AdamWStep adamw_step(const OptimizerOptions& options, double learning_rate, int64_t step, bool decays, float gradient_scale) {
  check(step >= 1, "updates are counted from 1");
  const auto power = static_cast<double>(step);
  return {.learning_rate = learning_rate,
          .beta1 = options.adam_beta1,
          .beta2 = options.adam_beta2,
          .epsilon = options.adam_epsilon,
          .weight_decay = decays ? options.weight_decay : 0,
          .bias_correction1 = 1 - std::pow(options.adam_beta1, power),
          .bias_correction2_sqrt = std::sqrt(1 - std::pow(options.adam_beta2, power)),
          .gradient_scale = gradient_scale};
}

void adamw_update(float* weight, float* m, float* v, const float* gradient, int64_t count, const AdamWStep& step, uint16_t* bf16_copy) {
  const Scalars scalars = scalars_of(step);
  for (int64_t begin = 0; begin < count; begin += block_elements) {
    const int64_t length = std::min(block_elements, count - begin);
    update_block(weight + begin, m + begin, v + begin, gradient + begin, length, scalars);
    if (bf16_copy != nullptr) convert(weight + begin, DType::float32, bf16_copy + begin, DType::bfloat16, length);
  }
}

}  // namespace scantling
