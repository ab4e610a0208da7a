// Which rank takes which rows: everything once, in the order of one rank, for every shape; and never a step that only some ranks make.
#include "scantling/data/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "scantling/core/error.h"
#include "tests/data/data_files.h"

namespace scantling {
namespace {

using Rows = std::vector<int64_t>;

// Rows of a step in the order of its micro-batch numbers.
Rows step_rows(const BatchPlan& plan, SampleOrder& order, int64_t step) {
  Rows rows;
  for (int64_t a = 0; a < plan.shape().accumulation; ++a) {
    for (int64_t rank = 0; rank < plan.shape().batch_ranks; ++rank) {
      const auto piece = rows_of(plan.micro_batch(step, rank, a), order);
      rows.insert(rows.end(), piece.begin(), piece.end());
    }
  }
  return rows;
}

TEST(BatchPlan, EpochsOverTwoRanksCoverEveryRowOnce) {
  const BatchPlan plan(12, {2, 2, 1}, false);
  ASSERT_EQ(plan.total_steps(3), 9);
  SampleOrder order(7, 12, true);
  std::map<int64_t, Rows> epochs;
  for (int64_t step = 0; step < 9; ++step) {
    const auto rows = step_rows(plan, order, step);
    auto& epoch = epochs[plan.step(step).epoch];
    epoch.insert(epoch.end(), rows.begin(), rows.end());
  }
  ASSERT_EQ(epochs.size(), 3u);
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
  for (auto& [epoch, rows] : epochs) {
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, (Rows{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})) << "epoch " << epoch;
  }
}

TEST(BatchPlan, EveryShapeOfABatchHasTheSameRows) {
  SampleOrder order(3, 29, true);
  const BatchPlan one(29, {12, 1, 1}, false);
  for (const auto& shape : {BatchShape{3, 4, 1}, {1, 4, 3}, {2, 2, 3}, {4, 1, 3}, {1, 12, 1}, {6, 1, 2}}) {
    const BatchPlan plan(29, shape, false);
    ASSERT_EQ(plan.total_steps(2), 6);
    for (int64_t step = 0; step < 6; ++step) EXPECT_EQ(step_rows(plan, order, step), step_rows(one, order, step)) << step;
  }
}

TEST(BatchPlan, RanksTakeEveryRthMicroBatch) {
  const BatchPlan plan(100, {2, 3, 2}, false);
  EXPECT_EQ(plan.micro_batch(0, 0, 0), (RowRange{0, 0, 2}));
  EXPECT_EQ(plan.micro_batch(0, 2, 0), (RowRange{0, 4, 2}));
  EXPECT_EQ(plan.micro_batch(0, 0, 1), (RowRange{0, 6, 2}));
  EXPECT_EQ(plan.micro_batch(1, 1, 1), (RowRange{0, 12 + 8, 2}));
  EXPECT_EQ(plan.micro_batch(9, 0, 0), (RowRange{1, 0, 2}));
}

TEST(BatchPlan, IncompleteLastBatchIsAStepOfItsOwn) {
  const BatchPlan plan(9, {1, 2, 1}, false);
  EXPECT_EQ(plan.steps_per_epoch(), 5);
  EXPECT_EQ(plan.step(4), (RowRange{0, 8, 1}));
  EXPECT_EQ(plan.micro_batch(4, 0, 0).count, 1);
  EXPECT_EQ(plan.micro_batch(4, 1, 0).count, 0);
  EXPECT_EQ(plan.step(5), (RowRange{1, 0, 2}));
}

TEST(BatchPlan, DropLastLeavesOutWhatIsIncomplete) {
  const BatchPlan plan(9, {1, 2, 1}, true);
  EXPECT_EQ(plan.steps_per_epoch(), 4);
  EXPECT_EQ(plan.step(4), (RowRange{1, 0, 2}));
}

TEST(BatchPlan, FewerRowsThanRanksMakeEmptyMicroBatches) {
  const BatchPlan plan(3, {1, 7, 1}, false);
  EXPECT_EQ(plan.steps_per_epoch(), 1);
  for (int64_t rank = 0; rank < 7; ++rank) EXPECT_EQ(plan.micro_batch(0, rank, 0).count, rank < 3 ? 1 : 0) << "rank " << rank;
}

TEST(BatchPlan, RefusesToMakeNoStep) {
  EXPECT_NE(failure_of<DataError>([] { BatchPlan(0, {1, 1, 1}, false); }).find("has no rows"), std::string::npos);
  const auto message = failure_of<DataError>([] { BatchPlan(7, {2, 2, 2}, true); });
  EXPECT_NE(message.find("7 rows, which do not fill one batch of 8"), std::string::npos) << message;
}

TEST(BatchPlan, PartsOfEpochsAreRoundedUpToSteps) {
  const BatchPlan plan(30, {1, 1, 1}, false);
  EXPECT_EQ(plan.total_steps(0.1), 3);
  EXPECT_EQ(plan.total_steps(0.11), 4);
  EXPECT_EQ(plan.total_steps(2), 60);
}

TEST(EvaluationPlan, SeesEachRowOnceAndInOrder) {
  for (const auto& [rows, batch, ranks] : {std::array<int64_t, 3>{10, 1, 4}, {33, 10, 1}, {33, 10, 2}, {512, 16, 2}, {1, 8, 3}}) {
    const auto plan = evaluation_plan(rows, batch, ranks);
    SampleOrder order(7, rows, false);
    Rows seen;
    for (int64_t step = 0; step < plan.total_steps(1); ++step) {
      const auto more = step_rows(plan, order, step);
      seen.insert(seen.end(), more.begin(), more.end());
    }
    ASSERT_EQ(static_cast<int64_t>(seen.size()), rows);
    for (int64_t i = 0; i < rows; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
  }
}

}  // namespace
}  // namespace scantling
