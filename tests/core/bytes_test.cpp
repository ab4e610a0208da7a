#include "scantling/core/bytes.h"

#include <gtest/gtest.h>

#include <limits>

namespace scantling {
namespace {

constexpr int64_t gibi = int64_t{1} << 30;

TEST(FormatBytes, ShowsThreeSignificantDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(gibi), "1.00 GiB");
  EXPECT_EQ(format_bytes(-1024), "-1.00 KiB");
  EXPECT_EQ(format_bytes(gibi * 3 / 2), "1.50 GiB");
  EXPECT_EQ(format_bytes(100 * gibi), "100 GiB");
  EXPECT_EQ(format_bytes(gibi / 1024 * 45 + gibi / 2048), "45.5 MiB");
}

TEST(FormatBytes, MovesToTheNextUnitBeforeRoundingToFourDigits) {
  EXPECT_EQ(format_bytes(1000 * 1024), "0.977 MiB");
  EXPECT_EQ(format_bytes(999 * 1024), "999 KiB");
  EXPECT_EQ(format_bytes(1024 * 9999 / 1000), "10.0 KiB");
}

TEST(FormatBytes, HoldsTheExtremes) {
  EXPECT_EQ(format_bytes(std::numeric_limits<int64_t>::max()), "8.00 EiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<int64_t>::min()), "-8.00 EiB");
}

TEST(ParseBytes, ReadsUnitsExactly) {
  EXPECT_EQ(parse_bytes("1024"), 1024);
  EXPECT_EQ(parse_bytes("0"), 0);
  EXPECT_EQ(parse_bytes("1GiB"), gibi);
  EXPECT_EQ(parse_bytes("1.5 GiB"), gibi * 3 / 2);
  EXPECT_EQ(parse_bytes("500MB"), 500000000);
  EXPECT_EQ(parse_bytes("7 B"), 7);
  EXPECT_EQ(parse_bytes("1.1KB"), 1100);
  EXPECT_EQ(parse_bytes("2TiB"), 2048 * gibi);
}

TEST(ParseBytes, RefusesWhatIsMalformed) {
  for (const char* text : {"", " ", "GiB", "-1", "-1GiB", "1.GiB", ".5GiB", "1 gib", "1GiBs", "1G", "1e9", "0x10", " 1", "1 ", "1  GiB",
                           "1..5MB", "1234567890123456789012", "9EiB"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace scantling
