// Writes named tensors into a folder as Hugging Face does: one STEM.safetensors, or files of at most so many bytes and an index.
// How tensors fall into files follows from the list alone, so every rank knows it, writes only its own ranges, and gathers nothing.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scantling/checkpoint/safetensors_writer.h"

namespace scantling {

struct WeightFolderOptions {
  std::string stem = "model";
  int64_t max_file_bytes = 5'000'000'000;  // of tensor data; a larger tensor gets a file of its own
  StageRole role = StageRole::owner;
};

class WeightFolderWriter {
 public:
  // Stages all files. Throws CheckpointError as SafetensorsWriter does, and if the folder already has weights of this stem
  // (a stale file beside a new index would be read instead of it).
  WeightFolderWriter(std::filesystem::path folder, const std::vector<TensorSpec>& tensors, const WeightFolderOptions& options = {});

  // As SafetensorsWriter::write.
  void write(std::string_view name, int64_t begin_element, const void* data, int64_t count, DType data_type);

  // Puts every file in place, then the index if there is one. A folder that must change as a whole is written through StagedFolder.
  void commit();

 private:
  std::filesystem::path folder_;
  WeightFolderOptions options_;
  std::vector<std::unique_ptr<SafetensorsWriter>> files_;
  std::unordered_map<std::string, size_t> places_;
  std::string index_;  // empty with one file
};

}  // namespace scantling
