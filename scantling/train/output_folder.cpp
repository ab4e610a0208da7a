#include "scantling/train/output_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include "scantling/core/error.h"

namespace scantling {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(const std::string& path, bool overwrite) : path_(path) {
  std::error_code failed;
  auto existing = fs::absolute(path_);
  while (!fs::exists(existing, failed) && !failed) existing = existing.parent_path();
  if (failed) throw ConfigError(fmt::format("train.output_dir ({}) cannot be used: {}. Name another folder.", path, failed.message()));
  if (!fs::is_directory(existing))
    throw ConfigError(fmt::format("train.output_dir ({}) cannot be made: {} is a file. Name a folder.", path, existing.string()));
  if (fs::exists(path_ / "summary.json") && !overwrite)
    throw ConfigError(
        fmt::format("train.output_dir ({}) holds a finished run. Name another folder, or use --overwrite to replace it.", path));
  if (access(existing.c_str(), W_OK | X_OK) != 0)
    throw ConfigError(fmt::format("train.output_dir ({}) cannot be written: {} is not writable for this user. Name another folder.", path,
                                  existing.string()));
}

void OutputFolder::open() {
  std::error_code failed;
  fs::create_directories(path_, failed);
  if (failed)
    throw ConfigError(fmt::format("train.output_dir ({}) cannot be made: {}. Name another folder.", path_.string(), failed.message()));
  for (const auto& entry : fs::directory_iterator(path_))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) fs::remove(entry.path());
  for (const char* name : {"metrics.jsonl", "summary.json", "run.yaml"}) fs::remove(path_ / name);
}

}  // namespace scantling
