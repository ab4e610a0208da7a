// Everything a run file says, in one tree. train/run_file.h reads and writes it.
#pragma once

#include <cstdint>
#include <string>

#include "scantling/data/options.h"
#include "scantling/layout/options.h"
#include "scantling/optim/options.h"

namespace scantling {

struct TrainOptions {
  int64_t per_device_train_batch_size = 0;  // rows of a micro-batch; two of these three fix the third (0: not given; resolved to all three)
  int64_t gradient_accumulation_steps = 0;
  int64_t global_batch_size = 0;
  int64_t per_device_eval_batch_size = 0;  // 0: as in training
  int64_t max_steps = 0;                   // 0: num_train_epochs decides
  double num_train_epochs = 1.0;           // passes over the data when max_steps is 0
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  bool strict = false;  // bits do not depend on the layout
  uint64_t seed = 0;
  int64_t logging_steps = 1;
  int64_t eval_steps = 0;  // 0: before the first and after the last step, when data.eval is given
  double communication_timeout_s = 60;
  std::string output_dir = "out";
  void validate(Faults& faults) const;
};

struct RunOptions {
  std::string model;  // Hugging Face folder, or any *.json that is a model's configuration
  DataOptions data;
  DeviceOptions devices;
  LayoutOptions layout;
  TrainOptions train;
};

// What a run file is used for: `plan` reads no data, so its files need not exist; `evaluate` needs one of data.eval and data.train.
enum class RunUse : uint8_t { plan, evaluate, train };

// Fills in what follows from other values: the three batch sizes (of which two fix the third; per device and accumulation are 1
// when nothing else says so) and the evaluation batch. Batch sizes that do not work out are a fault with numbers that do.
void resolve(RunOptions& options, Faults& faults);

// Everything that spans sections, and the files that `use` reads. Each section's own ranges are its validate().
void validate_together(const RunOptions& options, RunUse use, Faults& faults);

// Every check there is: each section's and those that span sections.
void validate(const RunOptions& options, RunUse use, Faults& faults);

}  // namespace scantling
