// The mean loss per label token of a data set, each row once, whatever the batch and layout.
#pragma once

#include <vector>

#include "scantling/runtime/rank_runtime.h"
#include "scantling/train/corpus.h"

namespace scantling {

struct RowLoss {
  double loss = 0;  // sum over the row's label tokens
  int64_t tokens = 0;
};

struct Evaluation {
  double loss = 0;  // mean per label token
  int64_t tokens = 0;
  std::vector<RowLoss> rows;  // in file order
};

// Shared by the ranks of a process: every rank fills the rows it ran, and one sums them when all are done.
class Evaluator {
 public:
  // Throws DataError if no row of `dataset` has a label token: there would be no mean.
  Evaluator(const Job& job, const TokenDataset& dataset);

  // Called by all ranks together; each has the result in the end.
  Evaluation run(RankRuntime& rank);

 private:
  void run_batch(RankRuntime& rank, int64_t step, SampleOrder& order);
  Evaluation sum() const;

  const Job& job_;
  const TokenDataset& dataset_;
  BatchPlan plan_;
  CompiledProgram program_;
  std::vector<RowLoss> rows_;
};

}  // namespace scantling
