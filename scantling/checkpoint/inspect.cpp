// Every header is validated as for loading; no weight is read. Long arrays of metadata (vocabularies) are shown by kind, count and
// their first items.
#include "scantling/checkpoint/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "scantling/checkpoint/gguf.h"
#include "scantling/checkpoint/hf_folder.h"
#include "scantling/core/bytes.h"
#include "scantling/core/text.h"

namespace scantling {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;
constexpr int64_t most_items_shown = 8;

// Text of a file, made valid UTF-8.
std::string clean(std::string_view text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

Json show(const GgufValue& value) {
  if (value.is_array) {
    Json first = Json::array();
    const auto fill = [&](const auto& items, auto convert) {
      for (size_t i = 0; i < items.size() && i < static_cast<size_t>(most_items_shown); ++i) first.push_back(convert(items[i]));
    };
    if (value.kind == GgufKind::string) {
      fill(value.as_strings(), clean);
    } else if (value.kind == GgufKind::float32 || value.kind == GgufKind::float64) {
      fill(value.as_numbers(), [](double number) { return number; });
    } else if (value.kind != GgufKind::boolean) {
      fill(value.as_integers(), [](int64_t number) { return number; });
    }
    return {{"kind", name_of(value.kind)}, {"count", value.count}, {"first", first}};
  }
  switch (value.kind) {
    case GgufKind::string: return clean(value.as_string());
    case GgufKind::boolean: return value.as_bool();
    case GgufKind::float32:
    case GgufKind::float64: return value.as_number();
    default: return value.as_integer();
  }
}

int64_t add(Json& result, const SafetensorsFile& file, const std::string& name) {
  int64_t elements = 0;
  for (const auto& tensor : file.tensors()) {
    result["tensors"].push_back(
        {{"name", tensor.name}, {"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}, {"bytes", tensor.bytes()}, {"file", name}});
    elements += tensor.elements();
  }
  result["files"].push_back({{"name", name},
                             {"format", "safetensors"},
                             {"bytes", file.file_bytes()},
                             {"tensors", file.tensors().size()},
                             {"metadata", Json(file.metadata())}});
  return elements;
}

int64_t add(Json& result, const GgufFile& file, const std::string& name) {
  int64_t elements = 0;
  for (const auto& tensor : file.tensors()) {
    result["tensors"].push_back({{"name", clean(tensor.name)},
                                 {"dtype", tensor.type->name},
                                 {"shape", tensor.shape},
                                 {"bytes", tensor.bytes.size()},
                                 {"file", name}});
    elements += tensor.elements();
  }
  Json metadata = Json::object();
  for (const auto& [key, value] : file.metadata()) metadata[clean(key)] = show(value);
  result["files"].push_back({{"name", name},
                             {"format", "gguf"},
                             {"version", file.version()},
                             {"bytes", file.file_bytes()},
                             {"tensors", file.tensors().size()},
                             {"metadata", metadata}});
  return elements;
}

bool begins_like_gguf(const fs::path& path) {
  const InputFile file(path.string());
  const auto bytes = file.map();
  return bytes.size() >= 4 && std::memcmp(bytes.data(), "GGUF", 4) == 0;
}

int64_t add_file(Json& result, const fs::path& path) {
  const auto name = clean(path.filename().string());
  return begins_like_gguf(path) ? add(result, GgufFile(path.string()), name) : add(result, SafetensorsFile(path.string()), name);
}

int64_t add_folder(Json& result, const fs::path& folder) {
  std::set<std::string> stems;  // of single files and of indexes
  std::set<fs::path> rest;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    constexpr std::string_view index = ".safetensors.index.json";
    if (name.starts_with('.')) continue;
    if (name.ends_with(index)) stems.insert(name.substr(0, name.size() - index.size()));
    if (name.ends_with(".safetensors") || name.ends_with(".gguf")) rest.insert(entry.path());
  }
  if (fs::exists(folder / "model.safetensors")) stems.insert("model");
  int64_t elements = 0;
  int64_t model_elements = 0;
  for (const auto& stem : stems) {
    const WeightFolder weights(folder, stem);
    int64_t of_stem = 0;
    for (const auto& file : weights.files()) {
      of_stem += add(result, *file, clean(fs::path(file->path()).filename().string()));
      rest.erase(file->path());
    }
    if (stem == "model") model_elements = of_stem;
    elements += of_stem;
  }
  for (const auto& path : rest) elements += add_file(result, path);
  if (result["files"].empty()) {
    refuse(folder.string(), "holds no weights. A .safetensors or .gguf file is needed. Give the folder of a model or checkpoint.");
  }
  return stems.contains("model") ? model_elements : elements;
}

}  // namespace

Json inspect(const fs::path& path) {
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  Json result = {{"format", "folder"}, {"path", clean(path.string())}, {"bytes", 0},
                 {"parameters", 0},    {"files", Json::array()},       {"tensors", Json::array()}};
  result["parameters"] = folder ? add_folder(result, path) : add_file(result, path);
  int64_t bytes = 0;
  for (const auto& file : result["files"]) bytes += file["bytes"].get<int64_t>();
  result["bytes"] = bytes;
  if (!folder) result["format"] = result["files"][0]["format"];
  return result;
}

std::string inspect_text(const nlohmann::ordered_json& inspected) {
  std::string text = fmt::format("{} ({}): {} in {} files, {} parameters\n\n", inspected["path"].get<std::string>(),
                                 inspected["format"].get<std::string>(), format_bytes(inspected["bytes"].get<int64_t>()),
                                 inspected["files"].size(), with_commas(inspected["parameters"].get<int64_t>()));
  for (const auto& tensor : inspected["tensors"])
    text += fmt::format("{:10} {:20} {}\n", tensor["dtype"].get<std::string>(), tensor["shape"].dump(), tensor["name"].get<std::string>());
  return text;
}

}  // namespace scantling
