// Non-regular files (pipes, devices) are refused before the first read, so a hostile folder cannot make a load wait for ever.
#include "scantling/checkpoint/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "scantling/core/error.h"

namespace scantling {

void refuse(std::string_view path, std::string_view what) { throw CheckpointError(fmt::format("{}: {}", path, what)); }

std::string in_quotes(std::string_view name) {
  constexpr size_t most = 120;
  const bool cut = name.size() > most;
  auto text = nlohmann::json(name.substr(0, most)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (cut) text.insert(text.size() - 1, "...");
  return text;
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0)
    refuse(path_,
           fmt::format("cannot be opened ({}). A readable file is needed. Check the path and its permissions.", std::strerror(errno)));
  struct stat facts {};
  const bool regular = ::fstat(file_, &facts) == 0 && S_ISREG(facts.st_mode);
  if (!regular) {
    ::close(file_);
    refuse(path_, "is not a regular file. Weights are read from regular files. Give the path of the file itself.");
  }
  size_ = facts.st_size;
  if (size_ == 0) return;
  void* map = ::mmap(nullptr, static_cast<size_t>(size_), PROT_READ, MAP_SHARED, file_, 0);
  if (map == MAP_FAILED) {
    const int reason = errno;
    ::close(file_);
    refuse(path_, fmt::format("cannot be mapped ({}). The file system must allow memory maps. Copy the file to a local disk.",
                              std::strerror(reason)));
  }
  map_ = static_cast<const std::byte*>(map);
}

InputFile::~InputFile() {
  if (map_ != nullptr) ::munmap(const_cast<std::byte*>(map_), static_cast<size_t>(size_));
  ::close(file_);
}

void InputFile::read(int64_t offset, int64_t length, void* out) const {
  check(offset >= 0 && length >= 0 && offset <= size_ - length, "a read inside the file");
  auto* to = static_cast<std::byte*>(out);
  while (length > 0) {
    const ssize_t got = ::pread(file_, to, static_cast<size_t>(length), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path_, fmt::format("reading at byte {} failed ({}). Check the disk.", offset, std::strerror(errno)));
    if (got == 0)
      refuse(path_,
             fmt::format("ends at byte {}, it was longer when it was opened. Do not change weight files while they are in use.", offset));
    to += got;
    offset += got;
    length -= got;
  }
}

}  // namespace scantling
