// What the optimizer keys of the `train` section say. Names and defaults follow Hugging Face's TrainingArguments.
#pragma once

#include <cstdint>
#include <string>

#include "scantling/core/error.h"

namespace scantling {

enum class OptimizerKind : uint8_t { adamw, sgd };
enum class ScheduleKind : uint8_t { constant, linear, cosine, warmup_stable_decay };
enum class NonFinite : uint8_t { skip, stop };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;  // run file: optim
  double learning_rate = 5e-5;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-8;
  double momentum = 0.0;                  // sgd
  double weight_decay = 0.0;              // matrices only
  double max_grad_norm = 1.0;             // 0: no clipping
  NonFinite nonfinite = NonFinite::skip;  // skip: no update in a step whose gradient is not finite; stop: end the run
  int max_skipped_steps = 10;             // skips in a row that end the run
  void validate(Faults& faults) const;
};

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::linear;  // run file: lr_scheduler_type
  int64_t warmup_steps = 0;
  int64_t decay_steps = 0;         // warmup_stable_decay: steps of the final decay; 0: a tenth of the run
  double min_learning_rate = 0.0;  // where the decay ends
  void validate(Faults& faults) const;
};

}  // namespace scantling
