#include "scantling/core/error.h"

#include <gtest/gtest.h>

namespace scantling {
namespace {

TEST(Faults, AreThrownTogether) {
  Faults faults;
  EXPECT_NO_THROW(faults.throw_if_any());
  faults.add("first fault");
  faults.add("second fault");
  try {
    faults.throw_if_any();
    FAIL() << "nothing was thrown";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "first fault\nsecond fault");
  }
}

TEST(Check, NamesThePlaceAndAsksForAReport) {
  EXPECT_NO_THROW(check(true, "holds"));
  try {
    check(false, "a promise");
    FAIL() << "nothing was thrown";
  } catch (const std::logic_error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("a promise"), std::string::npos) << text;
    EXPECT_NE(text.find("error_test.cpp"), std::string::npos) << text;
    EXPECT_NE(text.find("please report"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace scantling
