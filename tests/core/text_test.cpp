#include "scantling/core/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace scantling {
namespace {

TEST(NearestName, FindsASlipOfTheKeyboard) {
  const std::vector<std::string> names{"sharding", "schedule", "stages", "optimizer"};
  EXPECT_EQ(nearest_name("shardng", names), "sharding");
  EXPECT_EQ(nearest_name("optimiser", names), "optimizer");
  EXPECT_EQ(nearest_name("stages", names), "stages");
}

TEST(NearestName, OffersNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("learning_rate", {"stages", "data"}), "");
  EXPECT_EQ(nearest_name("abc", {}), "");
  EXPECT_EQ(nearest_name("abcd", {"wxyz"}), "");
}

TEST(NearestName, TakesTheFirstOfEquallyNear) { EXPECT_EQ(nearest_name("cat", {"bat", "car"}), "bat"); }

TEST(JoinNames, CountsWhatItLeavesOut) {
  EXPECT_EQ(join_names({}), "");
  EXPECT_EQ(join_names({"a"}), "a");
  EXPECT_EQ(join_names({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(join_names({"a", "b", "c", "d"}, 2), "a, b and 2 more");
  EXPECT_EQ(join_names({"a", "b"}, 0), "2 more");
}

TEST(WithCommas, GroupsThousands) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(with_commas(-123456), "-123,456");
  EXPECT_EQ(with_commas(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Divisors, AreAscendingAndComplete) {
  EXPECT_EQ(divisors(1), (std::vector<int64_t>{1}));
  EXPECT_EQ(divisors(12), (std::vector<int64_t>{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(divisors(49), (std::vector<int64_t>{1, 7, 49}));
  EXPECT_TRUE(divisors(0).empty());
}

TEST(Utf8, AcceptsWellFormedText) {
  for (const char* text : {"", "plain", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(Utf8, RefusesMalformedText) {
  for (const char* text : {"\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xFF",
                           "ok\xE2\x82", "\xC3(", "\xF5\x80\x80\x80"}) {
    EXPECT_FALSE(is_utf8(text)) << testing::PrintToString(std::string(text));
  }
}

}  // namespace
}  // namespace scantling
