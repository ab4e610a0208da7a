// Rows are appended to the file that the cleaned one was renamed to. Cleaning never happens in place: a run killed while it resumes
// leaves the old rows.
#include "scantling/report/metrics_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "scantling/core/error.h"

namespace scantling {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
  const int cause = errno;
  throw Error(fmt::format("Cannot {} {}: {}. The run's numbers go there. Free space or rights, or use another train.output_dir.", what,
                          path.string(), std::strerror(cause)));
}

void write_all(int descriptor, const std::string& text, const std::filesystem::path& path) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(descriptor, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) fail(path, "write");
    if (written > 0) done += static_cast<size_t>(written);
  }
}

void replace_file(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path beside = path.string() + ".writing";
  const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(beside, "create");
  try {
    write_all(descriptor, text, beside);
    if (::fsync(descriptor) != 0) fail(beside, "sync");
  } catch (...) {
    ::close(descriptor);
    ::unlink(beside.c_str());
    throw;
  }
  ::close(descriptor);
  if (::rename(beside.c_str(), path.c_str()) != 0) fail(path, "replace");
}

std::string dump(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// The rows of steps up to `last_step`, as they are.
std::string kept_rows(const std::filesystem::path& path, int64_t last_step) {
  std::ifstream file(path, std::ios::binary);
  std::string kept;
  int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (file.eof()) break;  // no line end: the row was cut off
    const auto row = nlohmann::json::parse(line, nullptr, false);
    const bool sound = row.is_object() && row.contains("step") && row.at("step").is_number_integer();
    if (!sound) {
      throw DataError(
          fmt::format("{} line {} is not a row of numbers with a step: {}. A resumed run goes on in that file. Repair or "
                      "remove the line, or use another train.output_dir.",
                      path.string(), number, line.substr(0, 80)));
    }
    if (row.at("step").get<int64_t>() <= last_step) kept += line + "\n";
  }
  return kept;
}

}  // namespace

MetricsLog::MetricsLog(std::filesystem::path path, int64_t last_step) : path_(std::move(path)) {
  replace_file(path_, last_step > 0 ? kept_rows(path_, last_step) : std::string());
  file_.reset(std::fopen(path_.c_str(), "ab"));
  if (file_ == nullptr) fail(path_, "open");
}

void MetricsLog::append(const nlohmann::ordered_json& row) {
  const std::string line = dump(row, -1);
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fflush(file_.get()) != 0) fail(path_, "write");
}

void write_json_file(const std::filesystem::path& path, const nlohmann::ordered_json& value) { replace_file(path, dump(value, 2)); }

}  // namespace scantling
