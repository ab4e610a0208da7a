// Notices for people, to standard error: "scantling: ..." and "scantling: warning: ...". Results never go through here. Quiet hides
// notices and keeps warnings, for nothing may get worse silently.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace scantling {

enum class LogLevel : uint8_t { info, warning };

// Thread-safe; one line, written at once.
void log_line(LogLevel level, std::string_view text);

void set_log_quiet(bool quiet);

template <typename... Arguments>
void log_info(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  log_line(LogLevel::info, fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <typename... Arguments>
void log_warn(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  log_line(LogLevel::warning, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace scantling
