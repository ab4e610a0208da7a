// Links are resolved with realpath, which looks at folders and links only, so an outside file is never opened to be judged.
#include "scantling/checkpoint/hf_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "scantling/core/error.h"
#include "scantling/core/text.h"

namespace scantling {
namespace fs = std::filesystem;
namespace {

// The index's weight_map; duplicate keys are refused because a JSON tree would keep the last one silently.
std::map<std::string, std::string> read_weight_map(const fs::path& path) {
  const InputFile file(path.string());
  const auto bytes = file.map();
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  std::vector<std::set<std::string>> open_objects;
  const auto refuse_duplicates = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (event == nlohmann::json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == nlohmann::json::parse_event_t::object_end) open_objects.pop_back();
    if (event == nlohmann::json::parse_event_t::key && !open_objects.back().insert(value.get<std::string>()).second) {
      refuse(path.string(),
             fmt::format("the key {} occurs twice. Keys must be unique. Write the index again.", in_quotes(value.get<std::string>())));
    }
    return true;
  };
  nlohmann::json index;
  try {
    index = nlohmann::json::parse(text, text + bytes.size(), refuse_duplicates);
  } catch (const nlohmann::json::exception&) {
    refuse(path.string(), "is not valid JSON. It must be an index of weight files. Fetch or write it again.");
  }
  const auto* map = index.is_object() && index.contains("weight_map") ? &index["weight_map"] : nullptr;
  if (map == nullptr || !map->is_object()) {
    refuse(path.string(), "has no object weight_map. It must name the file of every tensor. Fetch or write it again.");
  }
  std::map<std::string, std::string> entries;
  for (const auto& [name, file_name] : map->items()) {
    if (!file_name.is_string()) {
      refuse(path.string(),
             fmt::format("weight_map entry {} is no string. It must be a file name. Write the index again.", in_quotes(name)));
    }
    entries[name] = file_name.get<std::string>();
  }
  return entries;
}

bool present(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

}  // namespace

fs::path path_inside(const fs::path& folder, const std::string& name, const std::string& entry) {
  const auto fail = [&](std::string_view fact) {
    refuse(folder.string(), fmt::format("{} names {}: {}. Files must lie inside the folder. Put the file itself into the folder.", entry,
                                        in_quotes(name), fact));
  };
  const fs::path relative(name);
  if (name.empty() || name.find('\0') != std::string::npos) fail("an empty or malformed name");
  if (relative.is_absolute()) fail("an absolute path");
  if (std::find(relative.begin(), relative.end(), "..") != relative.end()) fail("a path with \"..\"");
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) fail("the folder cannot be read");
  const fs::path resolved = fs::weakly_canonical(folder / relative, error);
  if (error) fail("a path that cannot be resolved");
  if (std::mismatch(root.begin(), root.end(), resolved.begin(), resolved.end()).first != root.end())
    fail("a link that leads out of the folder");
  return folder / relative;
}

WeightFolder::WeightFolder(fs::path folder, const std::string& stem) : folder_(std::move(folder)) {
  std::error_code ignored;
  if (!fs::is_directory(folder_, ignored))
    refuse(folder_.string(), "is not a folder. Weights are read from a Hugging Face folder. Check the path.");
  const fs::path single = folder_ / (stem + ".safetensors");
  const fs::path index = folder_ / (stem + ".safetensors.index.json");
  if (present(single)) {
    add_file(single);
  } else if (present(index)) {
    open_indexed(index);
  } else {
    const bool pickled = present(folder_ / "pytorch_model.bin") || present(folder_ / "pytorch_model.bin.index.json");
    refuse(folder_.string(),
           fmt::format("has neither {} nor {}{}. Weights must be safetensors. {}", single.filename().string(), index.filename().string(),
                       pickled ? " (only pytorch_model.bin)" : "",
                       pickled ? "Save the model with safe_serialization=True." : "Fetch the files again or give the right folder."));
  }
}

void WeightFolder::add_file(const fs::path& path) {
  const size_t place = files_.size();
  files_.push_back(std::make_unique<SafetensorsFile>(path.string()));
  for (const auto& tensor : files_.back()->tensors()) {
    if (!places_.emplace(tensor.name, place).second) {
      refuse(path.string(),
             fmt::format("tensor {} stands in another file of the index as well. Names must be unique. Write the folder again.",
                         in_quotes(tensor.name)));
    }
    names_.push_back(tensor.name);
  }
}

void WeightFolder::open_indexed(const fs::path& index_path) {
  const auto entries = read_weight_map(index_path);
  std::map<std::string, fs::path> paths;  // all are judged before the first is opened
  for (const auto& [name, file] : entries) {
    if (!paths.contains(file))
      paths[file] = path_inside(folder_, file, fmt::format("{} entry {}", index_path.filename().string(), in_quotes(name)));
  }
  std::vector<std::string> order;
  for (const auto& [file, path] : paths) {
    add_file(path);
    order.push_back(file);
  }
  for (const auto& [name, file] : entries) {
    const auto found = places_.find(name);
    if (found == places_.end() || order[found->second] != file) {
      refuse(index_path.string(),
             fmt::format("entry {} names {}, which has no such tensor. Index and files must agree. Fetch or write them again.",
                         in_quotes(name), in_quotes(file)));
    }
  }
  for (const auto& name : names_) {
    if (!entries.contains(name)) {
      refuse(index_path.string(), fmt::format("has no entry for tensor {} of {}. Index and files must agree. Fetch or write them again.",
                                              in_quotes(name), in_quotes(order[places_.at(name)])));
    }
  }
}

const SafetensorsFile& WeightFolder::file_of(std::string_view name) const {
  const auto found = places_.find(name);
  if (found != places_.end()) return *files_[found->second];
  const auto nearest = nearest_name(name, names_);
  refuse(folder_.string(), fmt::format("has no tensor {} ({} tensors). Ask for one that is there{}.", in_quotes(name), names_.size(),
                                       nearest.empty() ? "" : fmt::format(", such as {}", in_quotes(nearest))));
}

const TensorInfo& WeightFolder::at(std::string_view name) const { return file_of(name).at(name); }

void WeightFolder::read(std::string_view name, int64_t begin_element, int64_t count, void* out, DType out_type) const {
  file_of(name).read(name, begin_element, count, out, out_type);
}

const std::byte* WeightFolder::mapped(std::string_view name, DType wanted) const {
  const SafetensorsFile& file = file_of(name);
  const TensorInfo& tensor = file.at(name);
  return tensor.dtype == wanted ? file.data(tensor) : nullptr;
}

}  // namespace scantling
