// The staged name is fixed (".NAME.partial"), so that other processes find it and a killed run leaves at most one behind, which the
// next run replaces. A lock on it keeps two runs from building the same target at once.
#include "scantling/checkpoint/staged_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "scantling/checkpoint/input_file.h"
#include "scantling/core/error.h"

namespace scantling {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& path, std::string_view action, int reason) {
  refuse(path.string(),
         fmt::format("{} failed ({}). The folder must exist, be writable and have space. Choose another folder or free space.", action,
                     std::strerror(reason)));
}

fs::path without_slash(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

fs::path staged_name(const fs::path& target) { return target.parent_path() / fmt::format(".{}.partial", target.filename().string()); }

fs::path parent_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

void sync_folder(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) fail(folder, "opening", errno);
  const int failed = ::fsync(file) != 0 && errno != EINVAL ? errno : 0;  // some file systems cannot sync a folder
  ::close(file);
  if (failed != 0) fail(folder, "syncing", failed);
}

int open_staged(const fs::path& staged, const fs::path& target, int64_t size, StageRole role) {
  const int flags = O_WRONLY | O_CLOEXEC | (role == StageRole::owner ? O_CREAT : 0);
  const int file = ::open(staged.c_str(), flags, 0666);
  if (file < 0) fail(target, "creating the file", errno);
  if (role == StageRole::helper) return file;
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(file);
    refuse(target.string(), "is being written by another process. One run writes a file at a time. Wait for it or choose another folder.");
  }
  int failed = ::ftruncate(file, 0) == 0 && ::ftruncate(file, size) == 0 ? 0 : errno;
  if (failed == 0 && size > 0 && ::fallocate(file, 0, 0, size) != 0 && errno != EOPNOTSUPP && errno != ENOSYS) failed = errno;
  if (failed != 0) {
    ::unlink(staged.c_str());
    ::close(file);
    fail(target, fmt::format("reserving {} bytes", size), failed);
  }
  return file;
}

}  // namespace

StagedFile::StagedFile(fs::path target, int64_t size_bytes, StageRole role)
    : target_(std::move(target)), staged_(staged_name(target_)), size_(size_bytes), role_(role) {
  file_ = open_staged(staged_, target_, size_, role_);
}

StagedFile::~StagedFile() {
  if (role_ == StageRole::owner && !committed_) ::unlink(staged_.c_str());
  ::close(file_);
}

void StagedFile::write(int64_t offset, int64_t length, const void* data) {
  check(!committed_ && offset >= 0 && length >= 0 && offset <= size_ - length, "a write inside the file, before its commit");
  const auto* from = static_cast<const std::byte*>(data);
  while (length > 0) {
    const ssize_t put = ::pwrite(file_, from, static_cast<size_t>(length), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(target_, "writing", errno);
    from += put;
    offset += put;
    length -= put;
  }
}

void StagedFile::commit() {
  check(!committed_, "one commit of a file");
  if (::fsync(file_) != 0) fail(target_, "syncing", errno);
  if (role_ == StageRole::owner) {
    if (::rename(staged_.c_str(), target_.c_str()) != 0) fail(target_, "renaming", errno);
    sync_folder(parent_of(target_));
  }
  committed_ = true;
}

StagedFolder::StagedFolder(fs::path target, bool overwrite) : target_(without_slash(target)), staged_(staged_name(target_)) {
  std::error_code error;
  const auto kind = fs::status(target_, error).type();
  if (kind != fs::file_type::not_found && kind != fs::file_type::directory) {
    refuse(target_.string(), "exists and is no folder. The output is a folder. Choose another path.");
  }
  if (kind == fs::file_type::directory && !overwrite && !fs::is_empty(target_, error)) {
    refuse(target_.string(), "exists and is not empty. Nothing is replaced unasked. Choose another folder or overwrite it.");
  }
  fs::create_directories(parent_of(target_), error);
  if (error) fail(parent_of(target_), "creating the folder", error.value());
  fs::remove_all(staged_, error);
  if (!fs::create_directory(staged_, error)) fail(target_, "creating the folder", error ? error.value() : EEXIST);
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(staged_, ignored);
}

void StagedFolder::commit() {
  check(!committed_, "one commit of a folder");
  sync_folder(staged_);
  if (::rename(staged_.c_str(), target_.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) fail(target_, "renaming", errno);
    if (::renameat2(AT_FDCWD, staged_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) fail(target_, "exchanging", errno);
    std::error_code ignored;
    fs::remove_all(staged_, ignored);
  }
  committed_ = true;
  sync_folder(parent_of(target_));
}

void write_file(const fs::path& target, std::string_view content) {
  StagedFile file(target, static_cast<int64_t>(content.size()));
  file.write(0, static_cast<int64_t>(content.size()), content.data());
  file.commit();
}

}  // namespace scantling
