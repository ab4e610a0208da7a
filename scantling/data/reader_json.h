// JSON records, one a line or as one array, from files that people have edited: byte-order mark, CRLF, blank lines and a last line
// without line end are accepted. A record that cannot be used is an error naming file and line, or is left out and listed; it is never
// lost without a word.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace scantling {

struct RecordFile {
  std::string path;
  bool array_allowed = false;   // a file that begins with "[" is one array of records
  bool skip_bad_lines = false;  // leave out and list, instead of throwing
  std::string record_shape;     // what a record must be, for messages: "an object with a string \"text\""
};

// Calls `use` with every record in file order; it throws DataError with the bare reason ("has no ...") for a record it cannot use. Throws
// DataError for what cannot be read, parsed or used; with skip_bad_lines adds one notice that lists the lines left out to `notices`
// instead. Blank lines are no records. Returns the number of records used.
int64_t read_records(const RecordFile& file, const std::function<void(const nlohmann::json&)>& use, std::vector<std::string>& notices);

}  // namespace scantling
