// Everything that makes a file unfit is said here, before a weight is looked for.
#include "scantling/models/description/load.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace scantling {
namespace {

namespace fs = std::filesystem;

constexpr const char* supported = "llama and mistral";

// Whether `path` exists. One that cannot be looked at is no missing one.
bool is_there(const fs::path& path) {
  std::error_code failed;
  const bool there = fs::exists(path, failed);
  if (failed)
    throw ConfigError(fmt::format("{}: cannot be reached ({}). A model must be readable. Check the path and the rights of its folders.",
                                  path.string(), failed.message()));
  return there;
}

std::string config_file_of(const std::string& path) {
  if (!is_there(path))
    throw ConfigError(
        fmt::format("{}: there is no such folder or file. A model is a Hugging Face folder or a config.json. Correct the path.", path));
  if (!fs::is_directory(path)) {
    if (fs::path(path).extension() == ".json") return path;
    throw ConfigError(fmt::format("{}: is no *.json file. A model is a Hugging Face folder or a config.json. Give its folder.", path));
  }
  const fs::path file = fs::path(path) / "config.json";
  if (!is_there(file))
    throw ConfigError(fmt::format("{}: holds no config.json. A model's folder has one. Give the folder that holds it.", path));
  return file.string();
}

nlohmann::json read_json(const std::string& file) {
  std::ifstream stream(file);
  if (!stream || fs::is_directory(file))
    throw ConfigError(
        fmt::format("{}: cannot be opened. The configuration must be a readable file. Check the path and its permissions.", file));
  try {
    return nlohmann::json::parse(stream);
  } catch (const nlohmann::json::exception& error) {
    throw ConfigError(fmt::format("{}: is not valid JSON: {}. Correct the file.", file, error.what()));
  }
}

void check_family(const nlohmann::json& json, const std::string& file) {
  if (!json.is_object()) throw ConfigError(fmt::format("{}: holds no object. A model's configuration is one JSON object.", file));
  if (!json.contains("model_type") || !json["model_type"].is_string())
    throw ConfigError(
        fmt::format("{}: model_type is missing or no text. It must name a model family. This version supports {}.", file, supported));
  const std::string type = json["model_type"].get<std::string>();
  if (type != "llama" && type != "mistral")
    throw ConfigError(fmt::format("{}: model_type is \"{}\". This version supports {}.", file, type, supported));
}

// The table below is that of a causal language model: another head or none would not match its weights.
void check_architecture(const nlohmann::json& json, const std::string& file) {
  if (!json.contains("architectures") || !json["architectures"].is_array() || json["architectures"].empty()) return;
  for (const auto& name : json["architectures"])
    if (name.is_string() && name.get<std::string>().ends_with("ForCausalLM")) return;
  throw ConfigError(
      fmt::format("{}: architectures is {}. This version trains causal language models (LlamaForCausalLM, MistralForCausalLM).", file,
                  json["architectures"].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

}  // namespace

ModelSource open_model(const std::string& path) {
  ModelSource source;
  source.config_file = config_file_of(path);
  if (fs::is_directory(path)) source.folder = path;
  const nlohmann::json json = read_json(source.config_file);
  check_family(json, source.config_file);
  check_architecture(json, source.config_file);
  source.llama = parse_llama_config(json, source.config_file);
  source.description = describe_llama(source.llama);
  return source;
}

}  // namespace scantling
