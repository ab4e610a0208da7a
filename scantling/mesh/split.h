// Where a tensor lies: cut along one dim into consecutive intervals, one per rank of an explicit list. Even, uneven, weighted, fixed
// and single-device placements are all this one type; sizes may be zero everywhere. Pure integers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "scantling/core/rank.h"

namespace scantling {

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  bool operator==(const Interval&) const = default;
};

// The common part; if there is none, an empty interval that begins where the later one begins.
Interval intersect(Interval a, Interval b);

struct Split {
  std::vector<Rank> ranks;
  int dim = 0;
  std::vector<int64_t> sizes;  // of ranks, in their order

  int64_t total() const;
  Interval interval_of(Rank rank) const;  // empty for a rank that is not in the list
  Rank owner_of(int64_t index) const;     // index in [0, total())
  // Throws ConfigError, with `name` and the numbers, unless this cuts a tensor of `shape` (no dims: one element along dim 0).
  void validate(const std::vector<int64_t>& shape, std::string_view name) const;
  bool operator==(const Split&) const = default;
};

// Sizes differ by at most one, larger ones first.
Split even_split(int64_t total, std::vector<Rank> ranks, int dim = 0);

// Sizes in proportion to `weights` (one per rank, such as bytes of memory), rounded by largest remainder, ties to the earlier rank.
// Throws ConfigError for negative weights or weights that are all zero.
Split split_by_weights(int64_t total, std::vector<Rank> ranks, const std::vector<int64_t>& weights, int dim = 0);

// `shards` even pieces on the first ranks; the others own nothing. Throws ConfigError unless 1 <= shards <= ranks.size().
Split fixed_shards(int64_t total, int shards, std::vector<Rank> ranks, int dim = 0);

struct Transfer {
  Rank from = 0;
  Rank to = 0;
  Interval interval;  // in indices of the whole
  bool operator==(const Transfer&) const = default;
};

// What carries one split of a tensor into another along the same dim, by ascending interval, each element once; from == to included.
std::vector<Transfer> transfers(const Split& from, const Split& to);

}  // namespace scantling
