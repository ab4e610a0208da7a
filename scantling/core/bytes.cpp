// Units step by 1024 with an "i" and by 1000 without one, in writing and in reading alike. Reading is exact: the number is kept as
// an integer and a decimal fraction, so "1.5GiB" is 1610612736 and not a rounded double.
#include "scantling/core/bytes.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace scantling {
namespace {

constexpr std::array<std::string_view, 7> binary_units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<int64_t> unit_bytes(std::string_view unit) {
  constexpr std::string_view letters = "KMGTPE";
  if (unit.empty() || unit == "B") return 1;
  const size_t power = letters.find(unit.front());
  if (power == std::string_view::npos) return std::nullopt;
  const std::string_view rest = unit.substr(1);
  if (rest != "B" && rest != "iB") return std::nullopt;
  int64_t bytes = 1;
  for (size_t i = 0; i <= power; ++i) bytes *= rest == "iB" ? 1024 : 1000;
  return bytes;
}

// The digits at the front of `text`, taken off it; none if there are none or they exceed 18 digits.
std::optional<int64_t> take_digits(std::string_view& text) {
  int64_t value = 0;
  size_t length = 0;
  for (; length < text.size() && is_digit(text[length]); ++length) {
    if (length == 18) return std::nullopt;
    value = value * 10 + (text[length] - '0');
  }
  text.remove_prefix(length);
  return length == 0 ? std::nullopt : std::optional(value);
}

}  // namespace

std::string format_bytes(int64_t bytes) {
  const double magnitude = std::fabs(static_cast<double>(bytes));
  if (magnitude < 1024) return fmt::format("{} B", bytes);
  double value = magnitude;
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < binary_units.size()) {
    value /= 1024;
    ++unit;
  }
  const int decimals = value < 0.9995 ? 3 : (value < 9.995 ? 2 : (value < 99.95 ? 1 : 0));
  return fmt::format("{}{:.{}f} {}", bytes < 0 ? "-" : "", value, decimals, binary_units[unit]);
}

std::optional<int64_t> parse_bytes(std::string_view text) {
  const auto whole = take_digits(text);
  if (!whole) return std::nullopt;
  int64_t fraction = 0;
  int64_t scale = 1;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    const size_t before = text.size();
    const auto digits = take_digits(text);
    if (!digits) return std::nullopt;
    fraction = *digits;
    for (size_t i = text.size(); i < before; ++i) scale *= 10;
  }
  if (text.size() > 1 && text.front() == ' ') text.remove_prefix(1);
  const auto unit = unit_bytes(text);
  if (!unit) return std::nullopt;
  const auto exact = static_cast<__int128>(*whole) * *unit + static_cast<__int128>(fraction) * *unit / scale;
  if (exact > std::numeric_limits<int64_t>::max()) return std::nullopt;
  return static_cast<int64_t>(exact);
}

}  // namespace scantling
