// The order of rows: a permutation of its own for each seed and epoch, the same for whoever asks and in whatever sequence.
#include "scantling/data/sample_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace scantling {
namespace {

std::vector<int64_t> order_of(SampleOrder& order, int64_t epoch) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < order.rows(); ++i) rows.push_back(order.index(epoch, i));
  return rows;
}

std::vector<int64_t> counted(int64_t rows) {
  std::vector<int64_t> all(static_cast<size_t>(rows));
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

TEST(SampleOrder, EveryEpochIsAPermutation) {
  for (const int64_t rows : {1, 2, 3, 12, 1000}) {
    SampleOrder order(7, rows, true);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      auto found = order_of(order, epoch);
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, counted(rows)) << rows << " rows, epoch " << epoch;
    }
  }
}

TEST(SampleOrder, EpochsAndSeedsDifferAndRunsDoNot) {
  SampleOrder order(7, 12, true);
  std::set<std::vector<int64_t>> orders;
  for (int64_t epoch = 0; epoch < 3; ++epoch) orders.insert(order_of(order, epoch));
  EXPECT_EQ(orders.size(), 3u);
  SampleOrder again(7, 12, true);
  SampleOrder other(8, 12, true);
  const auto last = order_of(again, 2);  // asked for first: epochs do not depend on the ones before
  EXPECT_TRUE(orders.contains(last));
  EXPECT_EQ(order_of(order, 2), last);
  for (int64_t epoch = 0; epoch < 3; ++epoch) EXPECT_FALSE(orders.contains(order_of(other, epoch))) << epoch;
  SampleOrder high(7 + (uint64_t{1} << 32), 12, true);
  EXPECT_NE(order_of(high, 0), order_of(order, 0));
}

TEST(SampleOrder, NeverChangesBetweenReleases) {
  SampleOrder order(7, 12, true);
  EXPECT_EQ(order_of(order, 0), (std::vector<int64_t>{4, 1, 6, 3, 10, 8, 11, 0, 7, 2, 9, 5}));
}

TEST(SampleOrder, WithoutShuffleIsTheFile) {
  SampleOrder order(7, 5, false);
  EXPECT_EQ(order_of(order, 0), counted(5));
  EXPECT_EQ(order_of(order, 9), counted(5));
}

TEST(SampleOrder, EveryRowIsEquallyLikelyAtEveryPlace) {
  constexpr int64_t rows = 5;
  constexpr int64_t epochs = 20000;
  SampleOrder order(1, rows, true);
  std::vector<int64_t> counts(rows * rows);
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (int64_t i = 0; i < rows; ++i) ++counts[static_cast<size_t>(i * rows + order.index(epoch, i))];
  }
  const double expected = static_cast<double>(epochs) / rows;
  for (const int64_t count : counts) EXPECT_LT(std::abs(static_cast<double>(count) - expected), 5 * std::sqrt(expected)) << count;
}

}  // namespace
}  // namespace scantling
