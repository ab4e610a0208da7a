// Scalars as TensorBoard event files. The format is small enough to write by hand: records framed as in TFRecord (length, masked
// CRC-32C of the length, bytes, masked CRC-32C of the bytes), each a protobuf `Event` (tensorflow/core/util/event.proto).
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace scantling {

class TensorBoardWriter {
 public:
  // Starts events.out.tfevents.<seconds>.<host> in `folder`. `first_step` is the step the run starts or goes on with: TensorBoard
  // drops what an earlier file says about it and later steps. Throws Error when the file cannot be written.
  TensorBoardWriter(const std::filesystem::path& folder, int64_t first_step);

  void scalar(std::string_view tag, double value, int64_t step);
  void flush();
  const std::filesystem::path& path() const { return path_; }

 private:
  void record(std::string_view event);

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace scantling
