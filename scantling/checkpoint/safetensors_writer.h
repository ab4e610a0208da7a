// Writes a safetensors file in any order and from many places at once. The list of tensors comes first, so every writer knows every
// byte range: ranks and threads write only what they own, and nothing is gathered in one memory.
#pragma once

#include <unordered_map>

#include "scantling/checkpoint/safetensors_header.h"
#include "scantling/checkpoint/staged_output.h"

namespace scantling {

struct TensorSpec {
  std::string name;
  DType dtype = DType::float32;
  std::vector<int64_t> shape;

  int64_t elements() const;  // CheckpointError if the shape overflows
  int64_t bytes() const;
};

class SafetensorsWriter {
 public:
  // Owner: stages the file and writes the header, tensors in the given order. Helper (another process): attaches to it.
  // Throws CheckpointError: a name that occurs twice, "__metadata__", malformed UTF-8, a folder that cannot be written.
  SafetensorsWriter(const std::string& path, const std::vector<TensorSpec>& tensors, StageRole role = StageRole::owner,
                    const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

  // Writes elements [begin_element, begin_element + count) of a tensor from `data` of type `data_type`, which must be the tensor's
  // own or a floating type that converts to it. Any thread; ranges of different calls must not overlap.
  void write(std::string_view name, int64_t begin_element, const void* data, int64_t count, DType data_type);

  // Syncs and renames into place. Elements never written are zero. Without a commit nothing is left behind.
  void commit() { file_->commit(); }

 private:
  SafetensorsHeader header_;
  std::unordered_map<std::string_view, size_t> index_;  // keys live in header_
  std::unique_ptr<StagedFile> file_;
};

}  // namespace scantling
