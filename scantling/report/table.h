// Plain text tables for people: a header, a rule, one line a row, columns two spaces apart. Columns of numbers are right-aligned.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace scantling {

// Every row has as many cells as the header. A column holds numbers if each of its cells is empty, "-", or starts with a digit, with
// or without a sign ("1,024", "-0.5", "1.00 GiB", "97 %"). Ends with a line end; no line ends with spaces.
std::string render_table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows);

// The columns that UTF-8 `text` takes on a terminal: none for combining marks, two for East Asian wide letters and pictures.
size_t display_width(std::string_view text);

}  // namespace scantling
