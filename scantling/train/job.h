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
  StepShape shape;  // of a full step

  const OptimizerOptions& optimizer() const { return options.train.optimizer; }
};

// Throws ConfigError with all faults of the layout against the model: names that match nothing, rows longer than the position table.
Job make_job(RunOptions options);

// The devices' budgets, the plan's peaks and what would help, as OutOfDeviceMemory, unless the plan fits.
void require_fit(const Job& job, const Price& price);

}  // namespace scantling
