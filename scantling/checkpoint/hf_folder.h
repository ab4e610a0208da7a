// The weights of a Hugging Face folder as one set of named tensors, whatever files they stand in.
// File names come from an index that anybody may have written, so an entry that leads out of the folder is refused before the file it
// names is opened; index and files must agree exactly. Headers are read at once, weights only by the ranges asked for.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scantling/checkpoint/safetensors.h"

namespace scantling {

class WeightFolder {
 public:
  // Opens STEM.safetensors or, without it, STEM.safetensors.index.json and the files it names.
  // Throws CheckpointError naming file, entry or tensor: nothing there, damage, an entry outside the folder, index and files disagree.
  explicit WeightFolder(std::filesystem::path folder, const std::string& stem = "model");

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path config_path() const { return folder_ / "config.json"; }
  const std::vector<std::string>& names() const { return names_; }  // by file, then by place in it
  const std::vector<std::unique_ptr<SafetensorsFile>>& files() const { return files_; }

  bool contains(std::string_view name) const { return places_.contains(name); }
  const TensorInfo& at(std::string_view name) const;  // CheckpointError with the nearest name if there is none
  const std::vector<int64_t>& shape(std::string_view name) const { return at(name).shape; }
  DType dtype(std::string_view name) const { return at(name).dtype; }

  // As SafetensorsFile::read.
  void read(std::string_view name, int64_t begin_element, int64_t count, void* out, DType out_type) const;

  // The tensor in the mapped file, or null if it is stored as another type. Lives as long as this object; may be misaligned.
  const std::byte* mapped(std::string_view name, DType wanted) const;

 private:
  void add_file(const std::filesystem::path& path);
  void open_indexed(const std::filesystem::path& index_path);
  const SafetensorsFile& file_of(std::string_view name) const;

  std::filesystem::path folder_;
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
  std::vector<std::string> names_;
  std::unordered_map<std::string_view, size_t> places_;  // name -> file; keys live in the files' headers
};

// The file `name` of `folder`, for names that come from a file (an index, a config). Throws CheckpointError naming `entry` if the name is
// empty, absolute, has "..", or leads out of the folder through a link. The file itself is not opened.
std::filesystem::path path_inside(const std::filesystem::path& folder, const std::string& name, const std::string& entry);

}  // namespace scantling
