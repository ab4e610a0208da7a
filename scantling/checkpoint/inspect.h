// What a weight file or folder holds, as JSON: for `checkpoint inspect`, and for people who only want to look.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace scantling {

// A .safetensors or .gguf file (told apart by their content), or a folder with such files.
// {format, path, bytes, parameters, files: [{name, format, bytes, tensors, metadata}], tensors: [{name, dtype, shape, bytes, file}]}.
// `parameters` counts the model's weights only (model.safetensors or its index) where a folder has them, otherwise every tensor.
// Throws CheckpointError naming file and field if anything is missing or damaged.
nlohmann::ordered_json inspect(const std::filesystem::path& path);

// The same for people: the files, then a line per tensor.
std::string inspect_text(const nlohmann::ordered_json& inspected);

}  // namespace scantling
