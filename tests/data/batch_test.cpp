// Micro-batches: exact labels, starts and positions; padding by length and never by value.
#include "scantling/data/batch.h"

#include <gtest/gtest.h>

#include "scantling/data/batch_plan.h"
#include "tests/data/data_files.h"
#include "tests/data/fake_encoder.h"

namespace scantling {
namespace {

using Values = std::vector<int64_t>;
constexpr int64_t none = -100;

TokenDataset dataset_of(const std::string& rows, int64_t max_length = 64, bool packing = false, bool dense = false) {
  const TestFolder folder;
  auto source = fake_source(folder.write("d.jsonl", rows), DataFormat::tokens);
  source.options.max_length = max_length;
  source.options.packing = packing;
  source.options.packing_dense = dense;
  return TokenDataset::load(source);
}

MicroBatch batch_of(const TokenDataset& data, const Values& rows, int64_t pad_id = 0, int64_t fixed_length = 0) {
  return collate(data, rows, pad_id, fixed_length);
}

const std::string four_rows =
    "{\"input_ids\": [1,2]}\n{\"input_ids\": [1,2,3]}\n{\"input_ids\": [1,2,3,4,5]}\n{\"input_ids\": [1,2,3,4,5,6,7,8,9]}\n";

TEST(Collate, PaddingWithTheEndTokenMasksNoEndToken) {
  const auto data = dataset_of("{\"input_ids\": [5, 6, 2]}\n{\"input_ids\": [7, 2]}\n");
  const auto batch = batch_of(data, {0, 1}, 2, 4);
  EXPECT_EQ(batch.ids, (Values{5, 6, 2, 2, 7, 2, 2, 2}));
  EXPECT_EQ(batch.labels, (Values{6, 2, none, none, 2, none, none, none}));
  EXPECT_EQ(batch.label_tokens, 3);
}

TEST(Collate, PadsToTheLongestRowOfTheMicroBatch) {
  const auto data = dataset_of(four_rows);
  const auto batch = batch_of(data, {1, 0}, 9);
  EXPECT_EQ(batch.rows, 2);
  EXPECT_EQ(batch.length, 3);
  EXPECT_EQ(batch.ids, (Values{1, 2, 3, 1, 2, 9}));
  EXPECT_EQ(batch.starts, (Values{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(batch.positions, (Values{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(batch_of(data, {0, 3}).length, 9);
}

TEST(Collate, PackedDocumentsDoNotSeeOrPredictEachOther) {
  const auto data = dataset_of("{\"input_ids\": [1,2,9]}\n{\"input_ids\": [3,9]}\n{\"input_ids\": [4,5,6]}\n", 6, true);
  const auto batch = batch_of(data, {0, 1});
  EXPECT_EQ(batch.ids, (Values{1, 2, 9, 3, 9, 4, 5, 6, 0, 0, 0, 0}));
  EXPECT_EQ(batch.labels, (Values{2, 9, none, 9, none, none, 6, none, none, none, none, none}));
  EXPECT_EQ(batch.starts, (Values{0, 0, 0, 3, 3, 5, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(batch.positions, (Values{0, 1, 2, 0, 1, 0, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(batch.label_tokens, 4);
}

TEST(Collate, DensePackingGoesOnAcrossJoins) {
  const auto data = dataset_of("{\"input_ids\": [1,2,9]}\n{\"input_ids\": [3,9]}\n", 5, true, true);
  const auto batch = batch_of(data, {0});
  EXPECT_EQ(batch.labels, (Values{2, 9, 3, 9, none}));
  EXPECT_EQ(batch.starts, (Values{0, 0, 0, 0, 0}));
  EXPECT_EQ(batch.positions, (Values{0, 1, 2, 3, 4}));
}

TEST(Collate, EmptyMicroBatchAndEmptyRow) {
  const auto data = dataset_of("{\"input_ids\": []}\n{\"input_ids\": [7]}\n");
  EXPECT_EQ(batch_of(data, {}).rows, 0);
  EXPECT_EQ(batch_of(data, {}, 0, 8).length, 0);
  const auto batch = batch_of(data, {0}, 3);
  EXPECT_EQ(batch.length, 1);
  EXPECT_EQ(batch.ids, Values{3});
  EXPECT_EQ(batch.label_tokens, 0);
}

TEST(Collate, LabelTokensOfAStepDoNotDependOnItsShape) {
  const auto data = dataset_of(four_rows);
  SampleOrder order(0, 4, false);
  for (const auto& [shape, counts] :
       std::vector<std::pair<BatchShape, Values>>{{{1, 1, 4}, {1, 2, 4, 8}}, {{2, 1, 2}, {3, 12}}, {{4, 1, 1}, {15}}}) {
    const BatchPlan plan(4, shape, false);
    Values found;
    for (int64_t a = 0; a < shape.accumulation; ++a) {
      const auto batch = batch_of(data, rows_of(plan.micro_batch(0, 0, a), order));
      found.push_back(batch.label_tokens);
      EXPECT_EQ(std::count_if(batch.labels.begin(), batch.labels.end(), [](int64_t l) { return l != none; }), batch.label_tokens);
    }
    EXPECT_EQ(found, counts);
  }
}

TEST(Collate, EvaluationCountsEveryLabelOnceOnAnyNumberOfRanks) {
  const auto data = dataset_of(four_rows + four_rows + "{\"input_ids\": [1,2]}\n{\"input_ids\": [1,2,3]}\n");
  for (const int64_t ranks : {1, 2, 4, 7, 16}) {
    const auto plan = evaluation_plan(data.rows(), 2, ranks);
    SampleOrder order(0, data.rows(), false);
    int64_t label_tokens = 0;
    int64_t rows = 0;
    for (int64_t step = 0; step < plan.total_steps(1); ++step) {
      for (int64_t rank = 0; rank < ranks; ++rank) {
        const auto batch = batch_of(data, rows_of(plan.micro_batch(step, rank, 0), order));
        label_tokens += batch.label_tokens;
        rows += batch.rows;
      }
    }
    EXPECT_EQ(rows, 10) << ranks << " ranks";
    EXPECT_EQ(label_tokens, 33) << ranks << " ranks";
  }
}

}  // namespace
}  // namespace scantling
