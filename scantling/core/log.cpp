// One spdlog logger for the process, made at first use. It is never destroyed, so that threads may log while the program ends.
#include "scantling/core/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>
#include <string>

namespace scantling {
namespace {

spdlog::logger& logger() {
  static auto* instance = [] {
    auto* made = new spdlog::logger("scantling", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("scantling: %v");
    return made;
  }();
  return *instance;
}

}  // namespace

void log_line(LogLevel level, std::string_view text) {
  if (level == LogLevel::info) {
    logger().info("{}", text);
  } else {
    logger().warn("warning: {}", text);
  }
}

void set_log_quiet(bool quiet) { logger().set_level(quiet ? spdlog::level::warn : spdlog::level::info); }

}  // namespace scantling
