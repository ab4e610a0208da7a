// The cut into files uses sizes and order only, never what a rank holds, so owner and helpers name the same files. The index is written
// last: until it is there, no reader takes the files for a model.
#include "scantling/checkpoint/weight_folder_writer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scantling/checkpoint/input_file.h"
#include "scantling/core/error.h"

namespace scantling {
namespace fs = std::filesystem;
namespace {

// Tensors in the given order, cut where the next would make a file too large.
std::vector<std::vector<TensorSpec>> split_into_files(const std::vector<TensorSpec>& tensors, int64_t max_file_bytes) {
  std::vector<std::vector<TensorSpec>> files(1);
  int64_t bytes = 0;
  for (const auto& tensor : tensors) {
    if (!files.back().empty() && tensor.bytes() > max_file_bytes - bytes) {
      files.emplace_back();
      bytes = 0;
    }
    bytes += tensor.bytes();
    files.back().push_back(tensor);
  }
  return files;
}

std::string file_name(const std::string& stem, size_t place, size_t count) {
  return count == 1 ? stem + ".safetensors" : fmt::format("{}-{:05}-of-{:05}.safetensors", stem, place + 1, count);
}

void refuse_existing(const fs::path& folder, const std::string& stem) {
  for (const auto* ending : {".safetensors", ".safetensors.index.json"}) {
    std::error_code ignored;
    if (fs::exists(folder / (stem + ending), ignored)) {
      refuse(folder.string(), fmt::format("already has {}{}. Old and new weights must not mix. Write into a new folder.", stem, ending));
    }
  }
}

}  // namespace

WeightFolderWriter::WeightFolderWriter(fs::path folder, const std::vector<TensorSpec>& tensors, const WeightFolderOptions& options)
    : folder_(std::move(folder)), options_(options) {
  refuse_existing(folder_, options_.stem);
  const auto files = split_into_files(tensors, options_.max_file_bytes);
  nlohmann::ordered_json weight_map = nlohmann::ordered_json::object();
  int64_t total_bytes = 0;
  for (size_t place = 0; place < files.size(); ++place) {
    const std::string name = file_name(options_.stem, place, files.size());
    for (const auto& tensor : files[place]) {
      if (!places_.emplace(tensor.name, place).second) {
        refuse(folder_.string(), fmt::format("two tensors are called {}. Names must be unique. Rename one.", in_quotes(tensor.name)));
      }
      weight_map[tensor.name] = name;
      total_bytes += tensor.bytes();
    }
    files_.push_back(std::make_unique<SafetensorsWriter>((folder_ / name).string(), files[place], options_.role));
  }
  if (files.size() == 1) return;
  const nlohmann::ordered_json index = {{"metadata", {{"total_size", total_bytes}}}, {"weight_map", weight_map}};
  index_ = index.dump(2) + "\n";
}

void WeightFolderWriter::write(std::string_view name, int64_t begin_element, const void* data, int64_t count, DType data_type) {
  const auto found = places_.find(std::string(name));
  check(found != places_.end(), "a tensor of the list given to the writer");
  files_[found->second]->write(name, begin_element, data, count, data_type);
}

void WeightFolderWriter::commit() {
  for (const auto& file : files_) file->commit();
  if (options_.role == StageRole::owner && !index_.empty()) write_file(folder_ / (options_.stem + ".safetensors.index.json"), index_);
}

}  // namespace scantling
