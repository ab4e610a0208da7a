// Ranks are mixed-radix numbers whose digits are the coordinates.
#include "scantling/mesh/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "scantling/core/error.h"

namespace scantling {

Mesh::Mesh(std::vector<AxisSize> axes) : axes_(std::move(axes)) {
  int64_t size = 1;
  for (size_t i = 0; i < axes_.size(); ++i) {
    const auto& [name, length] = axes_[i];
    if (name.empty())
      throw ConfigError(fmt::format("mesh: axis {} has no name. Every axis needs one. Write for example data: {}", i, length));
    if (length < 1) {
      throw ConfigError(
          fmt::format("mesh: axis {} has size {}. A size is at least 1. Write {}: 1 or leave the axis out", name, length, name));
    }
    const auto same_name = [&](const AxisSize& other) { return other.name == name; };
    if (std::any_of(axes_.begin(), axes_.begin() + static_cast<std::ptrdiff_t>(i), same_name)) {
      throw ConfigError(fmt::format("mesh: axis {} is given twice. Names must differ. Keep one of the two", name));
    }
    size *= length;
    if (size > std::numeric_limits<int>::max()) {
      throw ConfigError(fmt::format("mesh: the axes up to {} hold {} ranks. At most {} are possible. Use smaller sizes", name, size,
                                    std::numeric_limits<int>::max()));
    }
  }
  size_ = static_cast<int>(size);
}

int Mesh::size(std::string_view axis) const {
  const auto found = std::find_if(axes_.begin(), axes_.end(), [&](const AxisSize& candidate) { return candidate.name == axis; });
  return found == axes_.end() ? 1 : found->size;
}

std::vector<int> Mesh::coordinates(Rank rank) const {
  check(rank >= 0 && rank < size_, "a rank lies in its mesh");
  std::vector<int> coordinates(axes_.size());
  for (size_t i = axes_.size(); i-- > 0; rank /= axes_[i].size) coordinates[i] = rank % axes_[i].size;
  return coordinates;
}

int Mesh::coordinate(Rank rank, std::string_view axis) const {
  check(rank >= 0 && rank < size_, "a rank lies in its mesh");
  for (size_t i = axes_.size(); i-- > 0; rank /= axes_[i].size) {
    if (axes_[i].name == axis) return rank % axes_[i].size;
  }
  return 0;
}

Rank Mesh::rank(const std::vector<int>& coordinates) const {
  check(coordinates.size() == axes_.size(), "one coordinate per axis");
  Rank rank = 0;
  for (size_t i = 0; i < axes_.size(); ++i) {
    check(coordinates[i] >= 0 && coordinates[i] < axes_[i].size, "a coordinate lies on its axis");
    rank = rank * axes_[i].size + coordinates[i];
  }
  return rank;
}

std::vector<Rank> Mesh::group(Rank rank, std::string_view axis) const { return group(rank, {axis}); }

std::vector<Rank> Mesh::group(Rank rank, std::initializer_list<std::string_view> axes) const {
  return group(rank, std::vector<std::string>(axes.begin(), axes.end()));
}

std::vector<Rank> Mesh::group(Rank rank, const std::vector<std::string>& axes) const {
  const auto own = coordinates(rank);
  std::vector<Rank> ranks{0};
  for (size_t i = 0; i < axes_.size(); ++i) {
    const bool varies = std::find(axes.begin(), axes.end(), axes_[i].name) != axes.end();
    std::vector<Rank> longer;
    for (const Rank prefix : ranks) {
      for (int place = varies ? 0 : own[i]; place < (varies ? axes_[i].size : own[i] + 1); ++place) {
        longer.push_back(prefix * axes_[i].size + place);
      }
    }
    ranks = std::move(longer);
  }
  return ranks;
}

}  // namespace scantling
