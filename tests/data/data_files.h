// Files that tests write: a folder of their own that goes away with the object, and the shared data folder beside the sources.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace scantling {

class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "scantling-data-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

  // Writes a file with exactly these bytes and gives its path.
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::string path_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string shared_data(const std::string& name) { return std::string(SCANTLING_SOURCE_DIR) + "/../shared/data/" + name; }

// The message of the exception of type Failure that `run` throws; empty if it throws none.
template <typename Failure, typename Run>
std::string failure_of(Run run) {
  try {
    run();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace scantling
