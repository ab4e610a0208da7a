#include "scantling/report/table.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace scantling {
namespace {

TEST(Table, NumbersAreRightAlignedAndWordsLeft) {
  EXPECT_EQ(render_table({"device", "peak", "left"}, {{"cpu 0", "1,024", "-"}, {"cpu 10", "7", "-3 %"}}),
            "device   peak  left\n"
            "------  -----  ----\n"
            "cpu 0   1,024     -\n"
            "cpu 10      7  -3 %\n");
}

TEST(Table, NoRowsLeavesTheHeader) { EXPECT_EQ(render_table({"name", "x"}, {}), "name  x\n----  -\n"); }

TEST(Table, EmptyCellsLeaveNoTrailingSpaces) {
  EXPECT_EQ(render_table({"a", "b"}, {{"1", ""}, {"", "word"}}), "a  b\n-  ----\n1\n   word\n");
}

TEST(Table, OneWordMakesAColumnOfWords) { EXPECT_EQ(render_table({"value"}, {{"12"}, {"none"}, {"-x"}}), "value\n-----\n12\nnone\n-x\n"); }

TEST(Table, WidthCountsLettersNotBytes) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("Größe"), 5U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);  // e and a combining accent
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("\xF0\x9F\x9A\xA2"), 2U);  // a ship
  EXPECT_EQ(display_width("\xFFz\x80"), 3U) << "bytes that start no letter count one each";
  EXPECT_EQ(render_table({"é", "n"}, {{"日", "1"}}), "é   n\n--  -\n日  1\n");
}

TEST(Table, RowsMatchTheHeader) { EXPECT_THROW(render_table({"a", "b"}, {{"1"}}), std::logic_error); }

}  // namespace
}  // namespace scantling
