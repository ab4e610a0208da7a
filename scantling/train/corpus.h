// The rows of a run and how its ranks take them.
#pragma once

#include <string>

#include "scantling/data/batch.h"
#include "scantling/data/batch_plan.h"
#include "scantling/data/dataset.h"
#include "scantling/runtime/executor.h"
#include "scantling/train/job.h"

namespace scantling {

// `path` (data.train or data.eval) tokenized with the model's tokenizer. Says the dataset's notices.
TokenDataset load_corpus(const Job& job, const std::string& path);

// A micro-batch as the executor takes it; an empty one becomes one position without a label, so that all ranks do the same.
MicroBatch micro_batch_of(const TokenDataset& dataset, const std::vector<int64_t>& rows);
BatchView view_of(const MicroBatch& batch);

}  // namespace scantling
