// A file that is only read, and never trusted: every length in it is compared with the file's size before it is used.
// Reading goes through pread, so that a load does not grow the process by the pages it has touched; `map` gives the whole file as
// memory where a view is wanted instead of a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace scantling {

class InputFile {
 public:
  // Opens a regular file. Throws CheckpointError naming it if it cannot be read.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }

  // Copies bytes [offset, offset + length) to `out`. The range must lie inside the file. Threads may read at the same time.
  void read(int64_t offset, int64_t length, void* out) const;

  // The whole file, mapped read-only; lives as long as this object.
  std::span<const std::byte> map() const { return {map_, static_cast<size_t>(size_)}; }

 private:
  std::string path_;
  int file_ = -1;
  int64_t size_ = 0;
  const std::byte* map_ = nullptr;
};

// Throws CheckpointError "path: what". `what` is fact, constraint and remedy.
[[noreturn]] void refuse(std::string_view path, std::string_view what);

// A name from a file for a message: in quotes, control characters escaped, malformed UTF-8 replaced, at most 120 characters.
std::string in_quotes(std::string_view name);

}  // namespace scantling
