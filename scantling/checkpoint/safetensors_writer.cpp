// Offsets follow from the list alone, so owner and helpers compute the same ones without talking. Large types need no padding
// between tensors: the header ends on a multiple of eight and the format allows no holes.
#include "scantling/checkpoint/safetensors_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scantling/checkpoint/input_file.h"
#include "scantling/core/error.h"
#include "scantling/core/text.h"

namespace scantling {
namespace {

constexpr int64_t chunk_elements = 1 << 18;

SafetensorsHeader layout(const std::string& path, const std::vector<TensorSpec>& tensors,
                         const std::map<std::string, std::string>& metadata) {
  SafetensorsHeader header;
  header.metadata = metadata;
  int64_t end = 0;
  for (const auto& tensor : tensors) {
    if (tensor.name == "__metadata__") {
      refuse(path, "a tensor is called \"__metadata__\". The format keeps this name for itself. Rename the tensor.");
    }
    if (!is_utf8(tensor.name))
      refuse(path, fmt::format("the tensor name {} is not valid UTF-8. Rename the tensor.", in_quotes(tensor.name)));
    const int64_t begin = end;
    end += tensor.bytes();
    header.tensors.push_back({tensor.name, tensor.dtype, tensor.shape, begin, end});
  }
  return header;
}

}  // namespace

int64_t TensorSpec::elements() const {
  const int64_t count = count_elements(shape);
  if (count < 0 || count > INT64_MAX / 16) {
    throw CheckpointError(fmt::format("tensor {}: shape [{}] is negative or overflows 64 bits. Sizes must be real ones. Correct the shape.",
                                      in_quotes(name), fmt::join(shape, ", ")));
  }
  return count;
}

int64_t TensorSpec::bytes() const { return elements() * size_of(dtype); }

SafetensorsWriter::SafetensorsWriter(const std::string& path, const std::vector<TensorSpec>& tensors, StageRole role,
                                     const std::map<std::string, std::string>& metadata)
    : header_(layout(path, tensors, metadata)) {
  for (size_t i = 0; i < header_.tensors.size(); ++i) {
    if (!index_.emplace(header_.tensors[i].name, i).second) {
      refuse(path, fmt::format("two tensors are called {}. Names must be unique. Rename one.", in_quotes(header_.tensors[i].name)));
    }
  }
  const std::string front = format_safetensors_header(header_);
  header_.data_begin = static_cast<int64_t>(front.size());
  const int64_t data_bytes = header_.tensors.empty() ? 0 : header_.tensors.back().end_byte;
  file_ = std::make_unique<StagedFile>(path, header_.data_begin + data_bytes, role);
  if (role == StageRole::owner) file_->write(0, header_.data_begin, front.data());
}

void SafetensorsWriter::write(std::string_view name, int64_t begin_element, const void* data, int64_t count, DType data_type) {
  const auto found = index_.find(name);
  check(found != index_.end(), "a tensor of the list given to the writer");
  const TensorInfo& tensor = header_.tensors[found->second];
  check(begin_element >= 0 && count >= 0 && begin_element <= tensor.elements() - count, "a write inside the tensor");
  const int64_t element_bytes = size_of(tensor.dtype);
  int64_t offset = header_.data_begin + tensor.begin_byte + begin_element * element_bytes;
  if (tensor.dtype == data_type) return file_->write(offset, count * element_bytes, data);
  std::vector<std::byte> chunk(static_cast<size_t>(std::min(chunk_elements, count) * element_bytes));
  const auto* from = static_cast<const std::byte*>(data);
  while (count > 0) {
    const int64_t part = std::min(count, chunk_elements);
    convert(from, data_type, chunk.data(), tensor.dtype, part);
    file_->write(offset, part * element_bytes, chunk.data());
    from += part * size_of(data_type);
    offset += part * element_bytes;
    count -= part;
  }
}

}  // namespace scantling
