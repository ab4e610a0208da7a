// The devices as a grid with named axes, outer to inner: the last axis varies fastest with the rank. An axis that is not listed has
// size 1, so code asks for whatever axis it cares about and nothing depends on which axes exist.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "scantling/core/rank.h"

namespace scantling {

struct AxisSize {
  std::string name;
  int size = 1;
  bool operator==(const AxisSize&) const = default;
};

class Mesh {
 public:
  Mesh() = default;  // one rank
  // Throws ConfigError for a name that is empty or given twice, a size below 1, or more than 2^31 - 1 ranks.
  explicit Mesh(std::vector<AxisSize> axes);

  int size() const { return size_; }
  int size(std::string_view axis) const;
  const std::vector<AxisSize>& axes() const { return axes_; }

  std::vector<int> coordinates(Rank rank) const;  // one per axis, in the order of axes()
  int coordinate(Rank rank, std::string_view axis) const;
  Rank rank(const std::vector<int>& coordinates) const;

  // The ranks, ascending, that differ from `rank` only in the given axes; `rank` is among them.
  std::vector<Rank> group(Rank rank, std::string_view axis) const;
  std::vector<Rank> group(Rank rank, std::initializer_list<std::string_view> axes) const;
  std::vector<Rank> group(Rank rank, const std::vector<std::string>& axes) const;

  bool operator==(const Mesh&) const = default;

 private:
  std::vector<AxisSize> axes_;
  int size_ = 1;
};

}  // namespace scantling
