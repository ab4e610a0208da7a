// Axis names are arbitrary here on purpose: the mesh must not know any.
#include "scantling/mesh/mesh.h"

#include <gtest/gtest.h>

#include "scantling/core/error.h"

namespace scantling {
namespace {

using Ranks = std::vector<Rank>;

const Mesh grid({{"outer", 2}, {"middle", 3}, {"inner", 2}});

TEST(Mesh, LastAxisIsFastest) {
  EXPECT_EQ(grid.size(), 12);
  EXPECT_EQ(grid.coordinates(0), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(grid.coordinates(1), (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(grid.coordinates(2), (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(grid.coordinates(11), (std::vector<int>{1, 2, 1}));
  EXPECT_EQ(grid.coordinate(9, "middle"), 1);
}

TEST(Mesh, RankAndCoordinatesAreInverse) {
  for (Rank rank = 0; rank < grid.size(); ++rank) EXPECT_EQ(grid.rank(grid.coordinates(rank)), rank);
}

TEST(Mesh, UnknownAxesHaveSizeOne) {
  EXPECT_EQ(grid.size("middle"), 3);
  EXPECT_EQ(grid.size("context"), 1);
  EXPECT_EQ(grid.coordinate(7, "context"), 0);
  EXPECT_EQ(grid.group(7, "context"), Ranks{7});
}

TEST(Mesh, GroupsVaryOnlyTheirAxes) {
  EXPECT_EQ(grid.group(3, "outer"), (Ranks{3, 9}));
  EXPECT_EQ(grid.group(3, "middle"), (Ranks{1, 3, 5}));
  EXPECT_EQ(grid.group(3, "inner"), (Ranks{2, 3}));
  EXPECT_EQ(grid.group(3, {"outer", "inner"}), (Ranks{2, 3, 8, 9}));
  EXPECT_EQ(grid.group(3, {"inner", "outer", "context"}), (Ranks{2, 3, 8, 9}));
  EXPECT_EQ(grid.group(3, std::vector<std::string>{}), Ranks{3});
  EXPECT_EQ(grid.group(0, {"outer", "middle", "inner"}).size(), 12U);
}

TEST(Mesh, GroupsOfOneAxisPartitionTheRanks) {
  for (const AxisSize& axis : grid.axes()) {
    for (Rank rank = 0; rank < grid.size(); ++rank) {
      for (const Rank member : grid.group(rank, axis.name)) EXPECT_EQ(grid.group(member, axis.name), grid.group(rank, axis.name));
    }
  }
}

TEST(Mesh, WithoutAxesIsOneRank) {
  EXPECT_EQ(Mesh().size(), 1);
  EXPECT_EQ(Mesh().group(0, "data"), Ranks{0});
  EXPECT_EQ(Mesh().rank({}), 0);
  EXPECT_TRUE(Mesh().coordinates(0).empty());
}

TEST(Mesh, RefusesWrongAxes) {
  EXPECT_THROW(Mesh({{"data", 0}}), ConfigError);
  EXPECT_THROW(Mesh({{"data", -2}}), ConfigError);
  EXPECT_THROW(Mesh({{"", 2}}), ConfigError);
  EXPECT_THROW(Mesh({{"data", 2}, {"data", 2}}), ConfigError);
  EXPECT_THROW(Mesh({{"a", 65536}, {"b", 65536}}), ConfigError);
}

TEST(Mesh, RefusesWrongPlaces) {
  EXPECT_THROW(grid.coordinates(12), std::logic_error);
  EXPECT_THROW(grid.coordinates(-1), std::logic_error);
  EXPECT_THROW(grid.rank({0, 3, 0}), std::logic_error);
  EXPECT_THROW(grid.rank({0, 0}), std::logic_error);
}

}  // namespace
}  // namespace scantling
