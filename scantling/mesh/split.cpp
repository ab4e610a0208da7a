// Intervals follow from prefix sums of the sizes. Shares by weight are computed in 128-bit integers, so every machine rounds alike.
#include "scantling/mesh/split.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "scantling/core/error.h"

namespace scantling {
namespace {

std::vector<int64_t> even_sizes(int64_t total, size_t parts) {
  check(total >= 0 && parts > 0, "an even split has ranks and no negative size");
  const auto count = static_cast<int64_t>(parts);
  std::vector<int64_t> sizes(parts, total / count);
  for (int64_t i = 0; i < total % count; ++i) ++sizes[static_cast<size_t>(i)];
  return sizes;
}

}  // namespace

Interval intersect(Interval a, Interval b) {
  const int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

int64_t Split::total() const { return std::accumulate(sizes.begin(), sizes.end(), int64_t{0}); }

Interval Split::interval_of(Rank rank) const {
  int64_t begin = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == rank) return {begin, begin + sizes[i]};
    begin += sizes[i];
  }
  return {begin, begin};
}

Rank Split::owner_of(int64_t index) const {
  int64_t end = 0;
  for (size_t i = 0; i < ranks.size() && index >= 0; ++i) {
    end += sizes[i];
    if (index < end) return ranks[i];
  }
  check(false, fmt::format("index {} lies in a split of {}", index, total()));
  return -1;
}

void Split::validate(const std::vector<int64_t>& shape, std::string_view name) const {
  const std::vector<int64_t> dims = shape.empty() ? std::vector<int64_t>{1} : shape;
  const auto refuse = [&](const std::string& text) {
    throw ConfigError(fmt::format("{} of shape [{}]: {}", name, fmt::join(shape, ", "), text));
  };
  if (dim < 0 || dim >= static_cast<int>(dims.size())) {
    refuse(fmt::format("it cannot be split along dim {}. Its dims are 0 to {}. Use split: 0", dim, dims.size() - 1));
  }
  if (ranks.empty()) refuse("no rank is given to hold it. At least one is required. Name the devices");
  if (sizes.size() != ranks.size()) {
    refuse(fmt::format("{} sizes [{}] for {} ranks [{}]. Each rank needs one size. Write 0 for a rank that owns nothing", sizes.size(),
                       fmt::join(sizes, ", "), ranks.size(), fmt::join(ranks, ", ")));
  }
  if (std::set<Rank>(ranks.begin(), ranks.end()).size() != ranks.size() || *std::min_element(ranks.begin(), ranks.end()) < 0) {
    refuse(fmt::format("its ranks are [{}]. Ranks are 0 or more and named once. Correct the list", fmt::join(ranks, ", ")));
  }
  const int64_t length = dims[static_cast<size_t>(dim)];
  if (*std::min_element(sizes.begin(), sizes.end()) < 0 || total() != length) {
    refuse(fmt::format("sizes [{}] add up to {}. Sizes are 0 or more and add up to {}, the length of dim {}. An even split is [{}]",
                       fmt::join(sizes, ", "), total(), length, dim, fmt::join(even_sizes(length, ranks.size()), ", ")));
  }
}

Split even_split(int64_t total, std::vector<Rank> ranks, int dim) {
  auto sizes = even_sizes(total, ranks.size());
  return {std::move(ranks), dim, std::move(sizes)};
}

Split split_by_weights(int64_t total, std::vector<Rank> ranks, const std::vector<int64_t>& weights, int dim) {
  check(total >= 0 && weights.size() == ranks.size(), "one weight per rank");
  __int128 sum = 0;
  for (const int64_t weight : weights) sum += weight;
  if (sum <= 0 || *std::min_element(weights.begin(), weights.end()) < 0) {
    throw ConfigError(fmt::format("weights [{}] cannot share out {} elements. Weights are 0 or more and one is above 0. Use sizes: even",
                                  fmt::join(weights, ", "), total));
  }
  std::vector<int64_t> sizes;
  std::vector<__int128> remainders;
  for (const int64_t weight : weights) {
    const __int128 share = static_cast<__int128>(total) * weight;
    sizes.push_back(static_cast<int64_t>(share / sum));
    remainders.push_back(share % sum);
  }
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return remainders[a] > remainders[b]; });
  const int64_t left = total - std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  for (int64_t i = 0; i < left; ++i) ++sizes[order[static_cast<size_t>(i)]];
  return {std::move(ranks), dim, std::move(sizes)};
}

Split fixed_shards(int64_t total, int shards, std::vector<Rank> ranks, int dim) {
  if (shards < 1 || static_cast<size_t>(shards) > ranks.size()) {
    throw ConfigError(fmt::format("shards: {} on {} ranks. 1 to {} are possible. Use shards: {} or more devices", shards, ranks.size(),
                                  ranks.size(), ranks.size()));
  }
  auto sizes = even_sizes(total, static_cast<size_t>(shards));
  sizes.resize(ranks.size(), 0);
  return {std::move(ranks), dim, std::move(sizes)};
}

std::vector<Transfer> transfers(const Split& from, const Split& to) {
  check(from.dim == to.dim && from.total() == to.total(),
        fmt::format("both splits cut the same {} elements of dim {}", from.total(), from.dim));
  std::vector<Transfer> list;
  int64_t from_begin = 0;
  for (size_t i = 0; i < from.ranks.size(); from_begin += from.sizes[i++]) {
    int64_t to_begin = 0;
    for (size_t j = 0; j < to.ranks.size(); to_begin += to.sizes[j++]) {
      const Interval common = intersect({from_begin, from_begin + from.sizes[i]}, {to_begin, to_begin + to.sizes[j]});
      if (!common.empty()) list.push_back({from.ranks[i], to.ranks[j], common});
    }
  }
  return list;
}

}  // namespace scantling
