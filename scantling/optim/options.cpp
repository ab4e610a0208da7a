// Ranges, and settings that the chosen optimizer or curve would ignore: those are refused, for they would do nothing without a word.
#include "scantling/optim/options.h"

#include <fmt/format.h>

#include <cmath>

namespace scantling {
namespace {

void at_least_zero(const char* key, double value, Faults& faults) {
  if (!(value >= 0) || !std::isfinite(value)) faults.add(fmt::format("{} is {}. It must be a number of 0 or more.", key, value));
}

void below_one(const char* key, double value, Faults& faults) {
  if (!(value >= 0 && value < 1)) faults.add(fmt::format("{} is {}. It must be 0 or more and below 1.", key, value));
}

}  // namespace

void OptimizerOptions::validate(Faults& faults) const {
  at_least_zero("train.learning_rate", learning_rate, faults);
  below_one("train.adam_beta1", adam_beta1, faults);
  below_one("train.adam_beta2", adam_beta2, faults);
  if (!(adam_epsilon > 0) || !std::isfinite(adam_epsilon))
    faults.add(fmt::format("train.adam_epsilon is {}. It must be above 0. Use 1e-8.", adam_epsilon));
  below_one("train.momentum", momentum, faults);
  if (momentum != 0 && kind != OptimizerKind::sgd)
    faults.add(fmt::format("train.momentum is {}. Only sgd has it. Remove it, or set train.optim to sgd.", momentum));
  at_least_zero("train.weight_decay", weight_decay, faults);
  at_least_zero("train.max_grad_norm", max_grad_norm, faults);
  if (max_skipped_steps < 1)
    faults.add(fmt::format("train.max_skipped_steps is {}. It must be 1 or more. To end at the first, set train.nonfinite to stop.",
                           max_skipped_steps));
}

void ScheduleOptions::validate(Faults& faults) const {
  if (warmup_steps < 0) faults.add(fmt::format("train.warmup_steps is {}. It must be 0 or more.", warmup_steps));
  if (decay_steps < 0) faults.add(fmt::format("train.decay_steps is {}. It must be 0 or more.", decay_steps));
  if (decay_steps > 0 && kind != ScheduleKind::warmup_stable_decay)
    faults.add(fmt::format("train.decay_steps is {}. Only warmup_stable_decay has such a decay. Remove it, or set train.lr_scheduler_type.",
                           decay_steps));
  at_least_zero("train.min_learning_rate", min_learning_rate, faults);
  if (min_learning_rate > 0 && kind == ScheduleKind::constant)
    faults.add(fmt::format("train.min_learning_rate is {}. A constant rate does not decay. Remove it, or set train.lr_scheduler_type.",
                           min_learning_rate));
}

}  // namespace scantling
