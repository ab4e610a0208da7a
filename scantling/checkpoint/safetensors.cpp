// A read of the file's own type goes straight into the caller's buffer; a conversion passes through one fixed chunk.
#include "scantling/checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>

#include "scantling/core/error.h"
#include "scantling/core/text.h"

namespace scantling {
namespace {

constexpr int64_t chunk_bytes = 1 << 20;

bool convertible(DType from, DType to) {
  return is_floating(from) && (to == DType::float32 || to == DType::bfloat16 || to == DType::float16);
}

}  // namespace

SafetensorsFile::SafetensorsFile(std::string path)
    : file_(std::move(path)), header_(parse_safetensors_header(file_.path(), file_.map(), file_.size())) {
  for (size_t i = 0; i < header_.tensors.size(); ++i) index_.emplace(header_.tensors[i].name, i);
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &header_.tensors[found->second];
}

const TensorInfo& SafetensorsFile::at(std::string_view name) const {
  if (const auto* tensor = find(name)) return *tensor;
  std::vector<std::string> names;
  for (const auto& tensor : tensors()) names.push_back(tensor.name);
  const auto nearest = nearest_name(name, names);
  refuse(path(), fmt::format("has no tensor {} ({} tensors). Ask for one that is in the file{}.", in_quotes(name), names.size(),
                             nearest.empty() ? "" : fmt::format(", such as {}", in_quotes(nearest))));
}

const std::byte* SafetensorsFile::data(const TensorInfo& tensor) const {
  return file_.map().data() + header_.data_begin + tensor.begin_byte;
}

void SafetensorsFile::read(std::string_view name, int64_t begin_element, int64_t count, void* out, DType out_type) const {
  const TensorInfo& tensor = at(name);
  check(begin_element >= 0 && count >= 0 && begin_element <= tensor.elements() - count, "a read inside the tensor");
  const int64_t element_bytes = size_of(tensor.dtype);
  int64_t offset = header_.data_begin + tensor.begin_byte + begin_element * element_bytes;
  if (tensor.dtype == out_type) return file_.read(offset, count * element_bytes, out);
  if (!convertible(tensor.dtype, out_type)) {
    refuse(path(), fmt::format("tensor {} is {}, {} was asked for. Floating types convert to float32, bfloat16 or float16; other types are "
                               "read as they are.",
                               in_quotes(name), name_of(tensor.dtype), name_of(out_type)));
  }
  std::vector<std::byte> chunk(static_cast<size_t>(std::min(chunk_bytes, count * element_bytes)));
  auto* to = static_cast<std::byte*>(out);
  while (count > 0) {
    const int64_t part = std::min(count, chunk_bytes / element_bytes);
    file_.read(offset, part * element_bytes, chunk.data());
    convert(chunk.data(), tensor.dtype, to, out_type, part);
    offset += part * element_bytes;
    to += part * size_of(out_type);
    count -= part;
  }
}

}  // namespace scantling
