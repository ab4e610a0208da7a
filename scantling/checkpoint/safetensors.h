// Reads a safetensors file: one file, mapped, validated as a whole before the first tensor can be asked for.
// Only the bytes asked for are touched, so a rank that owns a thousandth of a tensor reads a thousandth of it.
#pragma once

#include <unordered_map>

#include "scantling/checkpoint/input_file.h"
#include "scantling/checkpoint/safetensors_header.h"

namespace scantling {

class SafetensorsFile {
 public:
  // Opens and validates. Throws CheckpointError that names file and field.
  explicit SafetensorsFile(std::string path);

  const std::string& path() const { return file_.path(); }
  const std::vector<TensorInfo>& tensors() const { return header_.tensors; }  // by place in the file
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  int64_t file_bytes() const { return file_.size(); }

  const TensorInfo* find(std::string_view name) const;  // null if there is none
  const TensorInfo& at(std::string_view name) const;    // CheckpointError with the nearest name if there is none

  // The tensor's bytes in the mapping; lives as long as this object; aligned to one byte only.
  const std::byte* data(const TensorInfo& tensor) const;

  // Copies elements [begin_element, begin_element + count) of a tensor to `out` as `out_type`. Floating types convert to float32,
  // bfloat16 and float16; every type reads as itself; anything else is a CheckpointError naming the tensor and both types.
  void read(std::string_view name, int64_t begin_element, int64_t count, void* out, DType out_type) const;

 private:
  InputFile file_;
  SafetensorsHeader header_;
  std::unordered_map<std::string_view, size_t> index_;  // keys live in header_
};

}  // namespace scantling
