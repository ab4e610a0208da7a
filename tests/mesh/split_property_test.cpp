// Laws of splits over generated totals, rank lists and sizes.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "scantling/mesh/split.h"

namespace scantling {
namespace {

std::vector<Rank> some_ranks() {
  auto ranks = *rc::gen::unique<std::vector<Rank>>(rc::gen::inRange(0, 50));
  if (ranks.empty()) ranks.push_back(0);
  return ranks;
}

Split any_split_of(int64_t total) {
  auto ranks = some_ranks();
  const auto weights = *rc::gen::container<std::vector<int64_t>>(ranks.size(), rc::gen::inRange<int64_t>(0, 1000));
  if (std::accumulate(weights.begin(), weights.end(), int64_t{0}) == 0) return even_split(total, std::move(ranks));
  return split_by_weights(total, std::move(ranks), weights);
}

RC_GTEST_PROP(SplitLaws, EvenSizesDifferByAtMostOne, ()) {
  const auto total = *rc::gen::inRange<int64_t>(0, 10000);
  const Split split = even_split(total, some_ranks());
  RC_ASSERT(split.total() == total);
  RC_ASSERT(std::is_sorted(split.sizes.rbegin(), split.sizes.rend()));
  RC_ASSERT(split.sizes.front() - split.sizes.back() <= 1);
}

RC_GTEST_PROP(SplitLaws, WeightedSizesAreWithinOneOfTheirShare, ()) {
  const auto total = *rc::gen::inRange<int64_t>(0, 10000);
  const auto weights = *rc::gen::nonEmpty(rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(1, 1000)));
  std::vector<Rank> ranks(weights.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const Split split = split_by_weights(total, ranks, weights);
  const auto sum = std::accumulate(weights.begin(), weights.end(), int64_t{0});
  RC_ASSERT(split.total() == total);
  for (size_t i = 0; i < weights.size(); ++i) {
    RC_ASSERT(split.sizes[i] >= total * weights[i] / sum);
    RC_ASSERT(split.sizes[i] <= total * weights[i] / sum + 1);
  }
}

RC_GTEST_PROP(SplitLaws, IntervalsTileTheWhole, ()) {
  const auto total = *rc::gen::inRange<int64_t>(0, 200);
  const Split split = any_split_of(total);
  split.validate({total}, "generated");
  int64_t next = 0;
  for (const Rank rank : split.ranks) {
    const Interval interval = split.interval_of(rank);
    RC_ASSERT(interval.begin == next);
    for (int64_t index = interval.begin; index < interval.end; ++index) RC_ASSERT(split.owner_of(index) == rank);
    next = interval.end;
  }
  RC_ASSERT(next == total);
}

RC_GTEST_PROP(SplitLaws, TransfersCarryEachElementOnce, ()) {
  const auto total = *rc::gen::inRange<int64_t>(0, 200);
  const Split from = any_split_of(total);
  const Split to = any_split_of(total);
  int64_t next = 0;
  for (const Transfer& transfer : transfers(from, to)) {
    RC_ASSERT(transfer.interval.begin == next);
    RC_ASSERT(!transfer.interval.empty());
    RC_ASSERT(intersect(transfer.interval, from.interval_of(transfer.from)) == transfer.interval);
    RC_ASSERT(intersect(transfer.interval, to.interval_of(transfer.to)) == transfer.interval);
    next = transfer.interval.end;
  }
  RC_ASSERT(next == total);
}

}  // namespace
}  // namespace scantling
