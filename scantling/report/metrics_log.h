// The numbers of a run as files that programs read: metrics.jsonl, one row a logged step, and summary.json. Rows leave the process before
// `append` returns, so a killed run keeps them; a whole file is replaced in one rename. Numbers are written with as many digits as
// reading them back exactly takes; NaN and infinities, which JSON lacks, become null.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace scantling {

class MetricsLog {
 public:
  // Opens `path` for appending, after removing the rows of steps beyond `last_step`, which a resumed run writes again, and a
  // half-written last row. 0 starts anew. Throws DataError if another row is not a JSON object with an integer `step`.
  MetricsLog(std::filesystem::path path, int64_t last_step);

  // Writes one row. Throws Error when the file cannot take it.
  void append(const nlohmann::ordered_json& row);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

// Writes `value` beside `path`, syncs and renames: readers see the old file or the new one, whole. Throws Error.
void write_json_file(const std::filesystem::path& path, const nlohmann::ordered_json& value);

}  // namespace scantling
