// Output that exists whole or not at all. A file or folder is built beside its target under a name that begins with a dot, synced, and
// renamed; whoever looks at the target sees the old state or the new one. What is not committed disappears.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace scantling {

// Which process creates, commits and removes a staged file. Others attach to it after it exists and before it is committed.
enum class StageRole { owner, helper };

// A file of known size that many threads and processes write at once.
class StagedFile {
 public:
  // Owner: creates the staged file with its full size (disk space is reserved where the file system can). Throws CheckpointError
  // naming the folder if it cannot be written, is full, or another process is writing the same target.
  StagedFile(std::filesystem::path target, int64_t size_bytes, StageRole role = StageRole::owner);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  void write(int64_t offset, int64_t length, const void* data);  // any thread
  void commit();                                                 // syncs; the owner then renames (helpers must have committed before)
  const std::filesystem::path& target() const { return target_; }

 private:
  std::filesystem::path target_, staged_;
  int64_t size_;
  StageRole role_;
  int file_ = -1;
  bool committed_ = false;
};

// A folder that is filled under path() and takes the target's place on commit().
class StagedFolder {
 public:
  // Throws CheckpointError if the parent cannot be written, or the target exists, is not empty, and may not be overwritten.
  StagedFolder(std::filesystem::path target, bool overwrite);
  ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  const std::filesystem::path& path() const { return staged_; }
  void commit();

 private:
  std::filesystem::path target_, staged_;
  bool committed_ = false;
};

// Writes a small file whole: staged, synced, renamed.
void write_file(const std::filesystem::path& target, std::string_view content);

}  // namespace scantling
