// Each curve ends in a factor that is exactly 0 at the last step (1 - 1, and 1 + cos(pi), which is -1 in double), so the end value
// needs no case of its own.
#include "scantling/optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "scantling/core/error.h"

namespace scantling {
namespace {

// The last step before the decay. A decay that is not given is a tenth of the run and gives way to the warm-up.
int64_t decay_begin(const ScheduleOptions& options, int64_t total_steps) {
  if (options.kind != ScheduleKind::warmup_stable_decay) return options.warmup_steps;
  if (options.decay_steps == 0) return std::max(options.warmup_steps, total_steps - std::max<int64_t>(1, total_steps / 10));
  if (options.warmup_steps + options.decay_steps > total_steps) {
    throw ConfigError(
        fmt::format("warmup_steps: {} and decay_steps: {} make {} steps, but the run has {}. Warm-up and decay must fit "
                    "into the run. Use decay_steps: {} or fewer, or max_steps: {} or more.",
                    options.warmup_steps, options.decay_steps, options.warmup_steps + options.decay_steps, total_steps,
                    std::max<int64_t>(0, total_steps - options.warmup_steps), options.warmup_steps + options.decay_steps));
  }
  return total_steps - options.decay_steps;
}

}  // namespace

Schedule::Schedule(const ScheduleOptions& options, double learning_rate, int64_t total_steps)
    : kind_(options.kind),
      rate_(learning_rate),
      min_rate_(options.min_learning_rate),
      total_steps_(total_steps),
      warmup_steps_(options.warmup_steps),
      decay_begin_(decay_begin(options, total_steps)) {
  if (min_rate_ > rate_) {
    throw ConfigError(fmt::format("min_learning_rate: {} is above learning_rate: {}. The rate decays towards it. Use {} or less.",
                                  min_rate_, rate_, rate_));
  }
}

double Schedule::at(int64_t step) const {
  check(step >= 1 && step <= total_steps_, "a step of the run");
  if (step < warmup_steps_) return rate_ * static_cast<double>(step) / static_cast<double>(warmup_steps_);
  if (kind_ == ScheduleKind::constant || step <= decay_begin_) return rate_;
  const double progress = static_cast<double>(step - decay_begin_) / static_cast<double>(total_steps_ - decay_begin_);
  const double left = kind_ == ScheduleKind::linear ? 1 - progress : (1 + std::cos(std::numbers::pi * progress)) / 2;
  return min_rate_ + (rate_ - min_rate_) * left;
}

}  // namespace scantling
