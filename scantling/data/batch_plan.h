// Which rows belong to which micro-batch of which rank: plain arithmetic over (step, rank, accumulation index), the same on every rank,
// so that all ranks make the same number of steps and nobody waits for a batch that another does not have. Step s takes global_batch rows
// of its epoch's order, cut into micro-batches of micro_batch_rows, numbered from 0; batch rank r of R has the numbers r, r + R, r + 2R,
// ... The incomplete last batch of an epoch is a step of its own: some of its micro-batches are shorter or empty.
#pragma once

#include <cstdint>
#include <vector>

#include "scantling/data/sample_order.h"

namespace scantling {

struct BatchShape {
  int64_t micro_batch_rows = 1;  // rows of a micro-batch
  int64_t batch_ranks = 1;       // ranks that see different rows (data x shard)
  int64_t accumulation = 1;      // micro-batches of a rank in a step

  int64_t global_rows() const { return micro_batch_rows * batch_ranks * accumulation; }
};

// `count` positions of an epoch's order, from `first`. A count of 0 is an empty micro-batch.
struct RowRange {
  int64_t epoch = 0;
  int64_t first = 0;
  int64_t count = 0;

  bool operator==(const RowRange&) const = default;
};

class BatchPlan {
 public:
  // `rows` of the data set. Throws DataError if no step comes out of it (no rows, or fewer than a batch with drop_last).
  BatchPlan(int64_t rows, BatchShape shape, bool drop_last);

  int64_t steps_per_epoch() const { return steps_per_epoch_; }
  // Steps of `epochs` passes over the data, rounded up to whole steps.
  int64_t total_steps(double epochs) const;

  RowRange step(int64_t step) const;  // all rows of a step, from 0
  RowRange micro_batch(int64_t step, int64_t rank, int64_t accumulation_index) const;
  const BatchShape& shape() const { return shape_; }

 private:
  int64_t rows_;
  BatchShape shape_;
  int64_t steps_per_epoch_;
};

// Every row once and in file order: one epoch of steps with one micro-batch a rank. For evaluation and prediction; use it with an
// unshuffled SampleOrder.
BatchPlan evaluation_plan(int64_t rows, int64_t micro_batch_rows, int64_t batch_ranks);

// The data set rows of a range.
std::vector<int64_t> rows_of(const RowRange& range, SampleOrder& order);

}  // namespace scantling
