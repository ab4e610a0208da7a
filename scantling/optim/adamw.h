// AdamW as torch.optim.AdamW: decoupled decay first, then the moments, then the step. One pass over a flat range of master weights,
// bound by memory bandwidth. Element by element with every operation rounded once, so bits do not depend on how a tensor is cut into
// ranges, nor on the instruction set.
#pragma once

#include <cstdint>

#include "scantling/optim/options.h"

namespace scantling {

// What is the same for all elements of one step.
struct AdamWStep {
  double learning_rate = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;           // 0 for what is not a matrix
  double bias_correction1 = 1;       // 1 - beta1^step
  double bias_correction2_sqrt = 1;  // sqrt(1 - beta2^step)
  float gradient_scale = 1;          // multiplies the gradient before anything else (clipping)
};

// Update number `step`, from 1. Decay applies to matrices only (`decays`: a parameter with two dimensions, whatever its storage).
AdamWStep adamw_step(const OptimizerOptions& options, double learning_rate, int64_t step, bool decays, float gradient_scale);

// Updates `count` weights and their moments `m` and `v` in place; moments start at zero. `bf16_copy`, unless null, receives the new
// weights rounded to nearest even. The ranges must not overlap.
void adamw_update(float* weight, float* m, float* v, const float* gradient, int64_t count, const AdamWStep& step,
                  uint16_t* bf16_copy = nullptr);

}  // namespace scantling
