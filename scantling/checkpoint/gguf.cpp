// One cursor does all reading and refuses to pass the end. Layout: magic, version, tensor count, key count; keys and values; tensor facts;
// padding to the alignment; data. Tensor offsets count from the begin of the data.
#include "scantling/checkpoint/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "scantling/checkpoint/gguf_cursor.h"
#include "scantling/checkpoint/safetensors_header.h"
#include "scantling/core/error.h"

namespace scantling {
namespace {

constexpr uint32_t magic = 0x46554747;  // "GGUF"
constexpr uint32_t max_dimensions = 4;
constexpr int64_t default_alignment = 32;

uint32_t read_version(GgufCursor& cursor) {
  if (cursor.number<uint32_t>("the magic number") != magic) cursor.fail("does not begin with \"GGUF\"", "This is no GGUF file");
  const auto version = cursor.number<uint32_t>("the version");
  if (version == 2 || version == 3) return version;
  if (__builtin_bswap32(version) <= 3) cursor.fail("is big-endian", "Only little-endian files can be read");
  cursor.fail(fmt::format("has version {}", version), "Versions 2 and 3 can be read");
}

int64_t alignment_of(const GgufFile& file) {
  const GgufValue* value = file.find("general.alignment");
  const int64_t alignment = value == nullptr ? default_alignment : value->as_integer();
  if (alignment > 0 && alignment <= (int64_t{1} << 30) && std::has_single_bit(static_cast<uint64_t>(alignment))) return alignment;
  refuse(file.path(), fmt::format("general.alignment is {}. It must be a power of two. Fetch or write the file again.", alignment));
}

// A tensor whose data is not known yet: `offset` counts from the data section.
struct Placed {
  GgufTensor tensor;
  int64_t offset = 0;
  int64_t bytes = 0;
};

Placed read_tensor(GgufCursor& cursor) {
  Placed placed;
  placed.tensor.name = cursor.string("a tensor name");
  cursor.within(fmt::format("tensor {}: ", in_quotes(placed.tensor.name)));
  const auto dimensions = cursor.number<uint32_t>("the number of dimensions");
  if (dimensions > max_dimensions) cursor.fail(fmt::format("has {} dimensions", dimensions), "At most 4 are allowed");
  for (uint32_t i = 0; i < dimensions; ++i) placed.tensor.shape.insert(placed.tensor.shape.begin(), cursor.length("a dimension"));
  const auto id = cursor.number<uint32_t>("the type");
  placed.tensor.type = gguf_type(id);
  if (placed.tensor.type == nullptr) cursor.fail(fmt::format("has type number {}", id), "The type is not known");
  placed.offset = cursor.length("the offset");
  const GgufType& type = *placed.tensor.type;
  const int64_t elements = count_elements(placed.tensor.shape);
  if (elements < 0) cursor.fail("has a shape that overflows 64 bits", "A tensor must fit into its file");
  const int64_t row = placed.tensor.shape.empty() ? 1 : placed.tensor.shape.back();
  if (row % type.block_elements != 0) {
    cursor.fail(fmt::format("has rows of {} elements", row), fmt::format("Type {} needs a multiple of {}", type.name, type.block_elements));
  }
  if (__builtin_mul_overflow(elements / type.block_elements, type.block_bytes, &placed.bytes)) {
    cursor.fail("has a size that overflows 64 bits", "A tensor must fit into its file");
  }
  cursor.within("");
  return placed;
}

// Tensors lie in the data, on the alignment, and do not overlap.
void place(GgufCursor& cursor, std::vector<Placed>& tensors, std::span<const std::byte> data, int64_t alignment) {
  const auto data_bytes = static_cast<int64_t>(data.size());
  std::vector<const Placed*> order;
  for (auto& placed : tensors) {
    cursor.within(fmt::format("tensor {}: ", in_quotes(placed.tensor.name)));
    if (placed.offset % alignment != 0)
      cursor.fail(fmt::format("offset is {}", placed.offset), fmt::format("It must be a multiple of {}", alignment));
    if (placed.offset > data_bytes || placed.bytes > data_bytes - placed.offset) {
      cursor.fail(fmt::format("its {} bytes at {} end beyond the data's {}", placed.bytes, placed.offset, data_bytes),
                  "Tensors must lie inside the file");
    }
    placed.tensor.bytes = data.subspan(static_cast<size_t>(placed.offset), static_cast<size_t>(placed.bytes));
    if (placed.bytes > 0) order.push_back(&placed);
  }
  std::sort(order.begin(), order.end(), [](const Placed* a, const Placed* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < order.size(); ++i) {
    cursor.within(fmt::format("tensor {}: ", in_quotes(order[i]->tensor.name)));
    if (order[i]->offset < order[i - 1]->offset + order[i - 1]->bytes) {
      cursor.fail(fmt::format("overlaps {}", in_quotes(order[i - 1]->tensor.name)), "Every tensor has its own bytes");
    }
  }
  cursor.within("");
}

}  // namespace

GgufFile::GgufFile(std::string path) : file_(std::move(path)) {
  const auto bytes = file_.map();
  GgufCursor cursor(file_.path(), bytes);
  version_ = read_version(cursor);
  const int64_t tensor_count = cursor.length("the tensor count");
  const int64_t key_count = cursor.length("the key count");
  for (int64_t i = 0; i < key_count; ++i) {
    const GgufValue value = cursor.entry();
    if (!metadata_.emplace(value.key, value).second)
      cursor.fail(fmt::format("has the key {} twice", in_quotes(value.key)), "Keys must be unique");
  }
  std::vector<Placed> placed;
  for (int64_t i = 0; i < tensor_count; ++i) {
    placed.push_back(read_tensor(cursor));
    const auto name = placed.back().tensor.name;
    if (!index_.emplace(name, placed.size() - 1).second)
      cursor.fail(fmt::format("has the tensor {} twice", in_quotes(name)), "Names must be unique");
  }
  const int64_t alignment = alignment_of(*this);
  const int64_t data_begin = std::min((cursor.position() + alignment - 1) / alignment * alignment, file_.size());
  place(cursor, placed, bytes.subspan(static_cast<size_t>(data_begin)), alignment);
  for (auto& each : placed) tensors_.push_back(std::move(each.tensor));
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? nullptr : &found->second;
}

const GgufValue& GgufFile::at(std::string_view key) const {
  if (const auto* value = find(key)) return *value;
  refuse(path(), fmt::format("has no key {}. It is needed to understand the model. Convert the model again.", key));
}

const GgufTensor* GgufFile::tensor(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

void dequantize_rows(std::string_view path, const GgufTensor& tensor, int64_t begin_row, int64_t rows, float* out) {
  const GgufType& type = *tensor.type;
  if (type.dequantize == nullptr) {
    refuse(path, fmt::format("tensor {} has type {}. It cannot be turned into floating-point numbers; these types can: {}. Convert the "
                             "model to one of them.",
                             in_quotes(tensor.name), type.name, dequantizable_gguf_types()));
  }
  const int64_t row_blocks = (tensor.shape.empty() ? 1 : tensor.shape.back()) / type.block_elements;
  const int64_t row_bytes = row_blocks * type.block_bytes;
  const auto whole = static_cast<int64_t>(tensor.bytes.size());
  check(begin_row >= 0 && rows >= 0 && (row_bytes == 0 || begin_row + rows <= whole / row_bytes), "rows inside the tensor");
  type.dequantize(tensor.bytes.data() + begin_row * row_bytes, rows * row_blocks, out);
}

}  // namespace scantling
