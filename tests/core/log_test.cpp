#include "scantling/core/log.h"

#include <gtest/gtest.h>

namespace scantling {
namespace {

TEST(Log, WritesToStandardErrorWithAShortPrefix) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  log_info("read {} files", 3);
  log_warn("pure {}", "{bfloat16}");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "scantling: read 3 files\nscantling: warning: pure {bfloat16}\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Log, QuietHidesNoticesAndKeepsWarnings) {
  testing::internal::CaptureStderr();
  set_log_quiet(true);
  log_info("hidden");
  log_warn("shown");
  set_log_quiet(false);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "scantling: warning: shown\n");
}

}  // namespace
}  // namespace scantling
