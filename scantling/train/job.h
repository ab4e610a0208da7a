// A run file brought together with its model: everything that can be known before a weight is read or a byte allocated.
#pragma once

#include "scantling/layout/layout.h"
#include "scantling/models/description/load.h"
#include "scantling/models/model.h"
#include "scantling/plan/price.h"
#include "scantling/train/options.h"

namespace scantling {

struct Job {
  RunOptions options;
  ModelSource source;
  Model model;
  Layout layout;
  StepShape shape;  // of a full step, and of an evaluation batch where there is one
  RunUse use = RunUse::train;

  const OptimizerOptions& optimizer() const { return options.train.optimizer; }
};

// How many virtual devices of this machine compute at once.
int compute_cores(const DeviceOptions& devices);

// Throws ConfigError with all faults of the layout against the model: names that match nothing, rows longer than the position table; to
// train also: nothing to train, a model that could not be written in the end (unreadable tokenizer file, full disk).
Job make_job(RunOptions options, RunUse use = RunUse::train);

// The devices' budgets, the plan's peaks and what would help, as OutOfDeviceMemory, unless the plan fits.
void require_fit(const Job& job, const Price& price);

}  // namespace scantling
