// The folder a run writes into: checked first, made last, so that a run that is refused leaves nothing behind.
#pragma once

#include <filesystem>
#include <string>

namespace scantling {

class OutputFolder {
 public:
  // Throws ConfigError if the folder holds a finished run and `overwrite` is not set, is a file, or cannot be made or written.
  OutputFolder(const std::string& path, bool overwrite);

  // Makes it, and removes what an earlier run left under the names that this one writes.
  void open();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace scantling
