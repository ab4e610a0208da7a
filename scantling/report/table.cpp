// Widths are counted from the bytes, not with wcwidth, whose answer depends on the locale: tables are the same everywhere.
#include "scantling/report/table.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "scantling/core/error.h"

namespace scantling {
namespace {

// The code point that starts at `at`, which moves behind it. A byte that starts none counts as one.
uint32_t next_code_point(std::string_view text, size_t& at) {
  const auto first = static_cast<uint8_t>(text[at++]);
  const int more = first >= 0xf0 ? 3 : (first >= 0xe0 ? 2 : (first >= 0xc0 ? 1 : 0));
  uint32_t code = more == 0 ? first : first & (0x3fU >> more);
  for (int i = 0; i < more && at < text.size() && (static_cast<uint8_t>(text[at]) & 0xc0U) == 0x80U; ++i) {
    code = code << 6 | (static_cast<uint8_t>(text[at++]) & 0x3fU);
  }
  return code;
}

bool is_between(uint32_t code, uint32_t first, uint32_t last) { return code >= first && code <= last; }

size_t width_of(uint32_t code) {
  if (is_between(code, 0x300, 0x36f) || is_between(code, 0x200b, 0x200f) || is_between(code, 0xfe00, 0xfe0f)) return 0;
  const bool wide = is_between(code, 0x1100, 0x115f) || is_between(code, 0x2e80, 0xa4cf) || is_between(code, 0xac00, 0xd7a3) ||
                    is_between(code, 0xf900, 0xfaff) || is_between(code, 0xff00, 0xff60) || is_between(code, 0x1f300, 0x1faff) ||
                    is_between(code, 0x20000, 0x3fffd);
  return wide ? 2 : 1;
}

bool is_number(std::string_view cell) {
  if (cell.empty() || cell == "-") return true;
  const bool has_sign = cell[0] == '-' || cell[0] == '+';
  return cell.size() > (has_sign ? 1U : 0U) && std::isdigit(static_cast<unsigned char>(cell[has_sign ? 1 : 0])) != 0;
}

struct Column {
  size_t width = 0;
  bool numbers = false;
};

void append_line(std::string& out, const std::vector<std::string>& cells, const std::vector<Column>& columns) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(columns[i].width - display_width(cells[i]), ' ');
    line += (i == 0 ? "" : "  ") + (columns[i].numbers ? padding + cells[i] : cells[i] + padding);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) width += width_of(next_code_point(text, at));
  return width;
}

std::string render_table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows) {
  std::vector<Column> columns(header.size());
  for (size_t i = 0; i < header.size(); ++i) {
    columns[i] = {.width = display_width(header[i]), .numbers = !rows.empty()};
    for (const auto& row : rows) {
      check(row.size() == header.size(), "a table row with as many cells as the header");
      columns[i].width = std::max(columns[i].width, display_width(row[i]));
      columns[i].numbers = columns[i].numbers && is_number(row[i]);
    }
  }
  std::string out;
  append_line(out, header, columns);
  std::vector<std::string> rule;
  for (const Column& column : columns) rule.emplace_back(column.width, '-');
  append_line(out, rule, columns);
  for (const auto& row : rows) append_line(out, row, columns);
  return out;
}

}  // namespace scantling
