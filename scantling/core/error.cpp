#include "scantling/core/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace scantling {

void Faults::throw_if_any() const {
  if (!faults_.empty()) throw ConfigError(fmt::format("{}", fmt::join(faults_, "\n")));
}

void check(bool condition, std::string_view what, std::source_location where) {
  if (condition) return;
  throw std::logic_error(
      fmt::format("internal error: {} ({}:{}). This is a fault of Scantling; please report it.", what, where.file_name(), where.line()));
}

}  // namespace scantling
