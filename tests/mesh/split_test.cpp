#include "scantling/mesh/split.h"

#include <gtest/gtest.h>

#include <limits>

#include "scantling/core/error.h"

namespace scantling {
namespace {

using Sizes = std::vector<int64_t>;
const std::vector<Rank> four{0, 1, 2, 3};

std::string refusal(const Split& split, const Sizes& shape) {
  try {
    split.validate(shape, "weight");
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST(EvenSplit, SizesThatDoNotDivide) {
  EXPECT_EQ(even_split(6, four).sizes, (Sizes{2, 2, 1, 1}));
  EXPECT_EQ(even_split(7, four).sizes, (Sizes{2, 2, 2, 1}));
  EXPECT_EQ(even_split(1, four).sizes, (Sizes{1, 0, 0, 0}));
  EXPECT_EQ(even_split(15, four).sizes, (Sizes{4, 4, 4, 3}));
  EXPECT_EQ(even_split(3, four).sizes, (Sizes{1, 1, 1, 0}));
  EXPECT_EQ(even_split(5, four, 1), (Split{four, 1, {2, 1, 1, 1}}));
  EXPECT_EQ(even_split(0, four).sizes, (Sizes{0, 0, 0, 0}));
  EXPECT_EQ(even_split(9, {3}).sizes, Sizes{9});
}

TEST(SplitByWeights, RoundsByLargestRemainder) {
  EXPECT_EQ(split_by_weights(10, {0, 1, 2}, {1, 1, 1}).sizes, (Sizes{4, 3, 3}));
  EXPECT_EQ(split_by_weights(10, {0, 1}, {3, 1}).sizes, (Sizes{8, 2}));
  EXPECT_EQ(split_by_weights(7, {0, 1, 2}, {24, 8, 8}).sizes, (Sizes{4, 2, 1}));
  EXPECT_EQ(split_by_weights(5, {0, 1}, {0, 7}).sizes, (Sizes{0, 5}));
  EXPECT_EQ(split_by_weights(0, {0, 1}, {1, 7}).sizes, (Sizes{0, 0}));
}

TEST(SplitByWeights, HoldsHugeCapacities) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(split_by_weights(huge, {0, 1}, {huge, huge}).total(), huge);
}

TEST(SplitByWeights, RefusesWeightsThatSayNothing) {
  EXPECT_THROW(split_by_weights(4, {0, 1}, {0, 0}), ConfigError);
  EXPECT_THROW(split_by_weights(4, {0, 1}, {2, -1}), ConfigError);
}

TEST(FixedShards, UsesTheFirstRanks) {
  EXPECT_EQ(fixed_shards(7, 2, four).sizes, (Sizes{4, 3, 0, 0}));
  EXPECT_EQ(fixed_shards(7, 1, four).sizes, (Sizes{7, 0, 0, 0}));
  EXPECT_EQ(fixed_shards(7, 4, four), even_split(7, four));
  EXPECT_THROW(fixed_shards(7, 5, four), ConfigError);
  EXPECT_THROW(fixed_shards(7, 0, four), ConfigError);
}

TEST(Split, KnowsIntervalsAndOwners) {
  const Split split{{5, 2, 9}, 0, {3, 0, 2}};
  EXPECT_EQ(split.interval_of(5), (Interval{0, 3}));
  EXPECT_EQ(split.interval_of(2), (Interval{3, 3}));
  EXPECT_EQ(split.interval_of(9), (Interval{3, 5}));
  EXPECT_TRUE(split.interval_of(4).empty());
  EXPECT_EQ(split.owner_of(2), 5);
  EXPECT_EQ(split.owner_of(3), 9);
  EXPECT_THROW(split.owner_of(5), std::logic_error);
  EXPECT_THROW(split.owner_of(-1), std::logic_error);
}

TEST(Split, ValidatesAgainstTheShape) {
  EXPECT_EQ(refusal(even_split(3, four), {3, 5}), "");
  EXPECT_EQ(refusal(even_split(5, four, 1), {3, 5}), "");
  EXPECT_EQ(refusal(even_split(1, four), {}), "");
  EXPECT_EQ(refusal(even_split(0, four), {0, 4}), "");
}

TEST(Split, RefusalsShowTheNumbers) {
  EXPECT_NE(refusal({{0, 1}, 0, {2, 2}}, {5}).find("[2, 2] add up to 4"), std::string::npos);
  EXPECT_NE(refusal({{0, 1}, 0, {2, 2}}, {5}).find("[3, 2]"), std::string::npos);
  EXPECT_NE(refusal({{0, 1}, 0, {6, -1}}, {5}).find("0 or more"), std::string::npos);
  EXPECT_NE(refusal({{0, 1}, 2, {3, 2}}, {5, 5}).find("dim 2"), std::string::npos);
  EXPECT_NE(refusal({{0, 1}, 0, {5}}, {5}).find("1 sizes [5] for 2 ranks"), std::string::npos);
  EXPECT_NE(refusal({{1, 1}, 0, {3, 2}}, {5}).find("ranks are [1, 1]"), std::string::npos);
  EXPECT_NE(refusal({{}, 0, {}}, {5}).find("no rank"), std::string::npos);
}

TEST(Intersect, OfDisjointIntervalsIsEmpty) {
  EXPECT_EQ(intersect({0, 5}, {3, 9}), (Interval{3, 5}));
  EXPECT_TRUE(intersect({0, 3}, {3, 9}).empty());
  EXPECT_EQ(intersect({0, 3}, {7, 9}).size(), 0);
}

TEST(Transfers, BetweenKnownSplits) {
  const auto list = transfers(even_split(6, {0, 1}), even_split(6, {1, 2, 3}));
  EXPECT_EQ(list, (std::vector<Transfer>{{0, 1, {0, 2}}, {0, 2, {2, 3}}, {1, 2, {3, 4}}, {1, 3, {4, 6}}}));
  EXPECT_TRUE(transfers(even_split(0, {0}), even_split(0, {1})).empty());
  EXPECT_THROW(transfers(even_split(5, {0}), even_split(6, {1})), std::logic_error);
}

}  // namespace
}  // namespace scantling
