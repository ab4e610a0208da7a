// Stochastic gradient descent as torch.optim.SGD with dampening 0: decay joins the gradient, the momentum buffer sums gradients, the
// step follows the buffer. Element by element, each operation rounded once, as in adamw.h.
#pragma once

#include <cstdint>

namespace scantling {

struct SgdStep {
  double learning_rate = 0;
  double momentum = 0;
  double weight_decay = 0;   // 0 for what is not a matrix
  float gradient_scale = 1;  // multiplies the gradient before anything else (clipping)
};

// Updates `count` weights in place, and their momentum `buffer`, which starts at zero and is null without momentum. `bf16_copy`,
// unless null, receives the new weights rounded to nearest even. The ranges must not overlap.
void sgd_update(float* weight, float* buffer, const float* gradient, int64_t count, const SgdStep& step, uint16_t* bf16_copy = nullptr);

}  // namespace scantling
