// Names near a wrong one are offered only when they are plausibly what was meant; text is judged by the Unicode standard, table 3-7.
#include "scantling/core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace scantling {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// Bytes of the character at the front of `text`; 0 if it is malformed (overlong, surrogate, above U+10FFFF, cut short).
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t length = lead < 0xE0 ? 2 : (lead < 0xF0 ? 3 : 4);
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool outside = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || outside ? 0 : length;
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  const size_t limit = std::max<size_t>(2, name.size() / 3);
  size_t best = limit + 1;
  std::string nearest;
  for (const auto& candidate : candidates) {
    const size_t distance = edit_distance(name, candidate);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string join_names(const std::vector<std::string>& names, size_t most) {
  const size_t shown = std::min(most, names.size());
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) text += ", ";
    text += names[i];
  }
  if (shown < names.size()) text += fmt::format("{}{} more", shown > 0 ? " and " : "", names.size() - shown);
  return text;
}

std::string with_commas(int64_t value) {
  std::string text = std::to_string(value);
  const size_t first_digit = value < 0 ? 1 : 0;
  for (size_t place = text.size(); place > first_digit + 3;) {
    place -= 3;
    text.insert(place, 1, ',');
  }
  return text;
}

std::vector<int64_t> divisors(int64_t value) {
  std::vector<int64_t> low;
  std::vector<int64_t> high;
  for (int64_t divisor = 1; divisor <= value / divisor; ++divisor) {
    if (value % divisor != 0) continue;
    low.push_back(divisor);
    if (divisor != value / divisor) high.push_back(value / divisor);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

size_t utf8_prefix(std::string_view text) {
  size_t place = 0;
  while (place < text.size()) {
    const size_t length = character_length(text.substr(place));
    if (length == 0) break;
    place += length;
  }
  return place;
}

bool is_utf8(std::string_view text) { return utf8_prefix(text) == text.size(); }

}  // namespace scantling
