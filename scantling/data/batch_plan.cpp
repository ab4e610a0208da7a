// Every range is cut from the one before it: epoch, step, micro-batch. Clamping at the end of the outer range is what makes short and empty
// micro-batches; there is no other special case.
#include "scantling/data/batch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scantling/core/error.h"

namespace scantling {
namespace {

// Piece `number` of `size` positions of `whole`, shorter or empty at its end.
RowRange piece_of(const RowRange& whole, int64_t number, int64_t size) {
  const int64_t skipped = std::min(number * size, whole.count);
  return {whole.epoch, whole.first + skipped, std::min(size, whole.count - skipped)};
}

int64_t steps_of(int64_t rows, int64_t batch_rows, bool drop_last) {
  if (rows == 0) throw DataError("The data set has no rows. Training and evaluation need at least one. Give a file with text in it.");
  const int64_t steps = drop_last ? rows / batch_rows : (rows + batch_rows - 1) / batch_rows;
  if (steps == 0) {
    throw DataError(
        fmt::format("The data set has {} rows, which do not fill one batch of {}, and data.drop_last leaves out what is incomplete. "
                    "A step needs a batch. Set data.drop_last: false, or a global batch of at most {}.",
                    rows, batch_rows, rows));
  }
  return steps;
}

}  // namespace

BatchPlan::BatchPlan(int64_t rows, BatchShape shape, bool drop_last) : rows_(rows), shape_(shape) {
  check(rows >= 0 && shape.micro_batch_rows > 0 && shape.batch_ranks > 0 && shape.accumulation > 0, "a batch shape without zeros");
  steps_per_epoch_ = steps_of(rows, shape.global_rows(), drop_last);
}

int64_t BatchPlan::total_steps(double epochs) const {
  constexpr double rounding = 1e-9;  // 0.1 epochs of 30 steps are 3 steps
  return static_cast<int64_t>(std::ceil(epochs * static_cast<double>(steps_per_epoch_) - rounding));
}

RowRange BatchPlan::step(int64_t step) const {
  check(step >= 0, "a step from 0");
  return piece_of({step / steps_per_epoch_, 0, rows_}, step % steps_per_epoch_, shape_.global_rows());
}

RowRange BatchPlan::micro_batch(int64_t step, int64_t rank, int64_t accumulation_index) const {
  check(rank >= 0 && rank < shape_.batch_ranks && accumulation_index >= 0 && accumulation_index < shape_.accumulation,
        "a rank and an accumulation index inside the batch shape");
  return piece_of(this->step(step), accumulation_index * shape_.batch_ranks + rank, shape_.micro_batch_rows);
}

BatchPlan evaluation_plan(int64_t rows, int64_t micro_batch_rows, int64_t batch_ranks) {
  return BatchPlan(rows, {micro_batch_rows, batch_ranks, 1}, false);
}

std::vector<int64_t> rows_of(const RowRange& range, SampleOrder& order) {
  std::vector<int64_t> rows;
  rows.reserve(static_cast<size_t>(range.count));
  for (int64_t i = 0; i < range.count; ++i) rows.push_back(order.index(range.epoch, range.first + i));
  return rows;
}

}  // namespace scantling
