// First the file is cut into records (lines, or the elements of the outer array, found by counting brackets outside strings), then each is
// parsed on its own. So both forms have line numbers, and one broken record does not hide the others.
#include "scantling/data/reader_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "scantling/core/error.h"
#include "scantling/core/text.h"
#include "scantling/data/reader_text.h"

namespace scantling {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr size_t most_listed = 100;

struct RawRecord {
  std::string_view text;
  int64_t line = 1;
};

int64_t count_lines(std::string_view text) { return std::count(text.begin(), text.end(), '\n'); }

RawRecord trimmed(std::string_view text, int64_t line) {
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {{}, line};
  const size_t end = text.find_last_not_of(blanks) + 1;
  return {text.substr(begin, end - begin), line + count_lines(text.substr(0, begin))};
}

std::vector<RawRecord> lines_of(std::string_view text) {
  std::vector<RawRecord> records;
  int64_t line = 1;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (const auto record = trimmed(text.substr(begin, end - begin), line); !record.text.empty()) records.push_back(record);
    begin = end + 1;
  }
  return records;
}

// Offset of the next ',' or ']' that belongs to the array around `begin`; the end of the text if there is none.
size_t element_end(std::string_view text, size_t begin) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (depth == 0 && (c == ',' || c == ']')) {
      return i;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      depth = std::max(0, depth - 1);
    }
  }
  return text.size();
}

[[noreturn]] void refuse_array(const std::string& path, int64_t line, std::string_view fact) {
  throw DataError(
      fmt::format("{} line {}: {}. The file begins with \"[\", so it must be one JSON array of records. Correct the array, or write one "
                  "record a line.",
                  path, line, fact));
}

std::vector<RawRecord> elements_of(const std::string& path, std::string_view text) {
  std::vector<RawRecord> records;
  const size_t open = text.find('[');
  size_t begin = open + 1;
  int64_t line = 1 + count_lines(text.substr(0, begin));
  while (true) {
    const size_t end = element_end(text, begin);
    const auto record = trimmed(text.substr(begin, end - begin), line);
    if (end == text.size()) refuse_array(path, record.line, "the array has no end after this place");
    const bool last = text[end] == ']';
    if (!record.text.empty())
      records.push_back(record);
    else if (!last || !records.empty())
      refuse_array(path, record.line, "an element of the array is missing");
    line += count_lines(text.substr(begin, end - begin));
    begin = end + 1;
    if (!last) continue;
    if (const auto rest = trimmed(text.substr(begin), line); !rest.text.empty())
      refuse_array(path, rest.line, "there is text after the array");
    return records;
  }
}

// The parser's reason without its own numbering: "[json.exception.parse_error.101] parse error at line 1, column 2: reason" -> "reason".
std::string parse_reason(std::string_view what) {
  const size_t column = what.find("column ");
  const size_t colon = what.find(": ", column == std::string_view::npos ? 0 : column);
  return std::string(colon == std::string_view::npos ? what : what.substr(colon + 2));
}

struct Fault {
  int64_t line;
  std::string reason;
};

std::string listed(const std::vector<Fault>& faults) {
  std::string text;
  for (size_t i = 0; i < std::min(most_listed, faults.size()); ++i) {
    text += fmt::format("{}line {} ({})", i == 0 ? "" : ", ", faults[i].line, faults[i].reason);
  }
  if (faults.size() > most_listed) text += fmt::format(" and {} more", faults.size() - most_listed);
  return text;
}

}  // namespace

int64_t read_records(const RecordFile& file, const std::function<void(const nlohmann::json&)>& use, std::vector<std::string>& notices) {
  const std::string text = read_data_file(file.path);
  const size_t first = text.find_first_not_of(blanks);
  const bool array = file.array_allowed && first != std::string::npos && text[first] == '[';
  std::vector<Fault> faults;
  int64_t used = 0;
  const auto fault = [&](int64_t line, const std::string& reason) {
    if (!file.skip_bad_lines) {
      throw DataError(
          fmt::format("{} line {}: {}. A record must be {}. Correct the line, or set data.skip_bad_lines: true to leave out and list "
                      "such lines.",
                      file.path, line, reason, file.record_shape));
    }
    faults.push_back({line, reason});
  };
  for (const auto& record : array ? elements_of(file.path, text) : lines_of(text)) {
    try {
      const size_t good = utf8_prefix(record.text);
      if (good < record.text.size()) {
        throw DataError(fmt::format("byte {} of the record (0x{:02X}) is not UTF-8", good, static_cast<unsigned char>(record.text[good])));
      }
      use(nlohmann::json::parse(record.text));
      ++used;
    } catch (const nlohmann::json::parse_error& error) {
      const auto before = record.text.substr(0, std::min(error.byte, record.text.size()));
      fault(record.line + count_lines(before), fmt::format("not valid JSON ({})", parse_reason(error.what())));
    } catch (const DataError& error) {
      fault(record.line, error.what());
    }
  }
  if (!faults.empty())
    notices.push_back(fmt::format("{}: left out {} of {} records: {}", file.path, faults.size(), used + static_cast<int64_t>(faults.size()),
                                  listed(faults)));
  return used;
}

}  // namespace scantling
