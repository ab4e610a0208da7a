// Turns a GGUF file of a Llama model into a Hugging Face folder: config.json, generation_config.json, model.safetensors, tokenizer.json,
// tokenizer_config.json. The folder appears whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "scantling/core/dtype.h"

namespace scantling {

struct GgufImportOptions {
  DType dtype = DType::float32;  // of the written weights: float32, bfloat16 or float16
  bool overwrite = false;        // replace a folder that is not empty
};

struct GgufImportResult {
  int64_t parameters = 0;
  int64_t tensors = 0;
  std::vector<std::string> notices;  // what the folder cannot hold, one line each
};

// Throws CheckpointError: damage, an architecture other than llama, a tensor that is missing, unknown or misshapen, a type that cannot be
// dequantised, a rotary scaling or tokenizer that Hugging Face's files cannot express, an output folder that cannot be written.
GgufImportResult import_gguf(const std::string& gguf_path, const std::filesystem::path& out_folder, const GgufImportOptions& options = {});

}  // namespace scantling
