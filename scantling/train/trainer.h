// The training run: all ranks of a process from initial weights to the saved model.
#pragma once

#include "scantling/train/evaluator.h"
#include "scantling/train/run_log.h"

namespace scantling {

struct TrainResult {
  RunSummary summary;
  Price price;
};

// Trains as the job says and leaves metrics.jsonl, summary.json, run.yaml, TensorBoard events and model/ in output_dir. A finished run
// there is refused unless `overwrite`. Everything that can be wrong is found before a weight is read. Throws ConfigError, DataError,
// CheckpointError, OutOfDeviceMemory before the first step; CommError, Error or Interrupted later.
TrainResult train(const Job& job, bool overwrite);

// Mean loss on data.eval, or on data.train where no evaluation data is given.
Evaluation evaluate(const Job& job);

}  // namespace scantling
