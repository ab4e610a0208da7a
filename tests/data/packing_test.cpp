// Documents in rows: no token is lost or doubled unless a notice counts it, and label counts are those after the shift.
#include "scantling/data/packing.h"

#include <gtest/gtest.h>

#include <numeric>

namespace scantling {
namespace {

using Ids = std::vector<int32_t>;
using Offsets = std::vector<int64_t>;

RowArrays rows_of(Packing packing, int64_t max_length, const std::vector<Ids>& documents) {
  RowBuilder builder(packing, max_length);
  for (const auto& ids : documents) builder.add({ids, ids});
  return builder.take();
}

TEST(Packing, NoneMakesARowOfEachDocument) {
  const auto rows = rows_of(Packing::none, 8, {{1, 2}, {1, 2, 3}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9}});
  EXPECT_EQ(rows.row_offsets, (Offsets{0, 2, 5, 10, 18}));
  EXPECT_EQ(rows.starts, (Ids{0, 0, 0, 0}));
  EXPECT_EQ(rows.label_tokens, (Ids{1, 2, 4, 7}));
}

TEST(Packing, NoneCountsWhatItCuts) {
  RowBuilder builder(Packing::none, 3);
  builder.add({{1, 2, 3}, {1, 2, 3}});
  builder.add({{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}});
  EXPECT_EQ(builder.rows_cut(), 1);
  EXPECT_EQ(builder.tokens_cut(), 2);
  EXPECT_EQ(builder.take().ids, (Ids{1, 2, 3, 1, 2, 3}));
}

TEST(Packing, NoneKeepsEmptyAndSingleTokenRows) {
  const auto rows = rows_of(Packing::none, 8, {{}, {5}, {}});
  EXPECT_EQ(rows.row_offsets, (Offsets{0, 0, 1, 1}));
  EXPECT_EQ(rows.label_tokens, (Ids{0, 0, 0}));
}

TEST(Packing, SeparateFillsRowsAndMarksEveryJoin) {
  const auto rows = rows_of(Packing::separate, 4, {{1, 2, 9}, {3, 9}, {}, {4, 5, 6, 7, 9}});
  EXPECT_EQ(rows.ids, (Ids{1, 2, 9, 3, 9, 4, 5, 6, 7, 9}));
  EXPECT_EQ(rows.row_offsets, (Offsets{0, 4, 8, 10}));
  EXPECT_EQ(rows.start_offsets, (Offsets{0, 2, 4, 5}));
  EXPECT_EQ(rows.starts, (Ids{0, 3, 0, 1, 0}));
  EXPECT_EQ(rows.label_tokens, (Ids{2, 2, 1}));
}

TEST(Packing, DenseForgetsTheJoins) {
  const auto rows = rows_of(Packing::dense, 4, {{1, 2, 9}, {3, 9}, {4, 5, 6, 7, 9}});
  EXPECT_EQ(rows.row_offsets, (Offsets{0, 4, 8, 10}));
  EXPECT_EQ(rows.starts, (Ids{0, 0, 0}));
  EXPECT_EQ(rows.label_tokens, (Ids{3, 3, 1}));
}

TEST(Packing, ExactFitLeavesNoEmptyRow) {
  EXPECT_EQ(rows_of(Packing::separate, 3, {{1, 2, 3}, {4, 5, 6}}).row_offsets, (Offsets{0, 3, 6}));
  EXPECT_EQ(rows_of(Packing::separate, 3, {}).row_offsets, Offsets{0});
}

TEST(Packing, MaskedLabelsDoNotCount) {
  RowBuilder builder(Packing::none, 8);
  builder.add({{1, 2, 3, 4}, {-100, -100, 3, 4}});
  builder.add({{1, 2}, {1, -100}});
  EXPECT_EQ(builder.take().label_tokens, (Ids{2, 0}));
}

TEST(Packing, LosesNoToken) {
  for (const int64_t max_length : {2, 3, 5, 64}) {
    std::vector<Ids> documents;
    Ids all;
    for (int32_t length = 0; length < 20; ++length) {
      documents.emplace_back(static_cast<size_t>(length), length);
      all.insert(all.end(), documents.back().begin(), documents.back().end());
    }
    for (const auto packing : {Packing::separate, Packing::dense})
      EXPECT_EQ(rows_of(packing, max_length, documents).ids, all) << max_length;
  }
}

}  // namespace
}  // namespace scantling
