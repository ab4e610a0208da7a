// Opens what the run file's `model` names: the one place that knows which model families there are.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "scantling/models/description/description.h"
#include "scantling/models/description/llama.h"

namespace scantling {

struct ModelSource {
  std::string config_file;  // the config.json that was read
  std::string folder;       // Hugging Face folder whose weights are loaded; empty: a configuration alone, weights are drawn
  LlamaConfig llama;
  ModelDescription description;

  const nlohmann::json& json() const { return llama.raw; }  // the whole config.json
};

// `path` is a folder with a config.json, or any *.json that is a model's configuration. Weights are not looked at. Throws ConfigError
// if there is no such file, it is no JSON, its model_type is not supported (the message lists those that are), or a value is refused.
ModelSource open_model(const std::string& path);

}  // namespace scantling
