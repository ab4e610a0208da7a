// The learning rate of each optimizer step: a linear warm-up, then the named curve. Counted in optimizer steps and nothing else, so
// neither ranks nor micro-batches change it. The first step is 1 and trains already: with warm-up of w steps, step s <= w has
// rate * s / w, so step w has the whole rate (once). Hugging Face's schedules have the same values one step later, from rate 0.
// After warm-up, with p = (s - w) / (total - w):
//   constant             rate
//   linear               min + (rate - min) (1 - p)
//   cosine               min + (rate - min) (1 + cos(pi p)) / 2
//   warmup_stable_decay  rate until the last d steps, then the cosine with p = (s - (total - d)) / d
// so that the last step has exactly `min_learning_rate`, save for constant and for a run that ends in its warm-up.
#pragma once

#include <cstdint>

#include "scantling/optim/options.h"

namespace scantling {

class Schedule {
 public:
  // `learning_rate` is the peak; `total_steps` the optimizer steps of the whole run, those before a resume included.
  // Throws ConfigError when warm-up and an explicit decay do not fit into the run, or the decay would rise.
  Schedule(const ScheduleOptions& options, double learning_rate, int64_t total_steps);

  // The rate of optimizer step `step`, 1 to total_steps.
  double at(int64_t step) const;

 private:
  ScheduleKind kind_;
  double rate_;
  double min_rate_;
  int64_t total_steps_;
  int64_t warmup_steps_;
  int64_t decay_begin_;  // the last step with the whole rate, unless the curve is constant
};

}  // namespace scantling
