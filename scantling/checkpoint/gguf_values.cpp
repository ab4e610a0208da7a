// Values of metadata: walking over them (GgufCursor) and reading them out (GgufValue). Strings are an 8-byte length and bytes; arrays are
// a kind, a count and elements; arrays of arrays exist in no file of llama.cpp's and are refused.
#include <fmt/format.h>

#include <array>

#include "scantling/checkpoint/gguf_cursor.h"

namespace scantling {
namespace {

constexpr std::array<std::string_view, 13> kind_names{"uint8",   "int8",   "uint16", "int16",  "uint32", "int32",  "float32",
                                                      "boolean", "string", "array",  "uint64", "int64",  "float64"};
constexpr std::array<int64_t, 13> kind_bytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

template <typename T>
T element(const GgufValue& value, int64_t index) {
  T result;
  std::memcpy(&result, value.bytes.data() + index * static_cast<int64_t>(sizeof result), sizeof result);
  return result;
}

[[noreturn]] void wrong_kind(const GgufValue& value, std::string_view wanted) {
  refuse(value.path, fmt::format("{} is {}{}. It must be {}. Convert the model again.", in_quotes(value.key),
                                 value.is_array ? "an array of " : "", name_of(value.kind), wanted));
}

int64_t integer_at(const GgufValue& value, int64_t index) {
  switch (value.kind) {
    case GgufKind::uint8: return element<uint8_t>(value, index);
    case GgufKind::int8: return element<int8_t>(value, index);
    case GgufKind::uint16: return element<uint16_t>(value, index);
    case GgufKind::int16: return element<int16_t>(value, index);
    case GgufKind::uint32: return element<uint32_t>(value, index);
    case GgufKind::int32: return element<int32_t>(value, index);
    case GgufKind::int64: return element<int64_t>(value, index);
    case GgufKind::uint64: {
      const auto number = element<uint64_t>(value, index);
      if (number > static_cast<uint64_t>(INT64_MAX)) wrong_kind(value, "below 2^63");
      return static_cast<int64_t>(number);
    }
    default: wrong_kind(value, "a whole number");
  }
}

double number_at(const GgufValue& value, int64_t index) {
  if (value.kind == GgufKind::float32) return element<float>(value, index);
  if (value.kind == GgufKind::float64) return element<double>(value, index);
  return static_cast<double>(integer_at(value, index));
}

}  // namespace

std::string_view name_of(GgufKind kind) { return kind_names[static_cast<size_t>(kind)]; }
int64_t bytes_of(GgufKind kind) { return kind_bytes[static_cast<size_t>(kind)]; }

void GgufCursor::fail(std::string_view fact, std::string_view rule) const {
  refuse(path_, fmt::format("{}{}. {}. The file is damaged or of another kind; fetch or convert it again.", place_, fact, rule));
}

std::span<const std::byte> GgufCursor::take(int64_t count, std::string_view what) {
  const auto left = static_cast<int64_t>(bytes_.size()) - position_;
  if (count > left)
    fail(fmt::format("ends inside {} ({} bytes at {}, {} left)", what, count, position_, left), "Everything must lie inside the file");
  const auto taken = bytes_.subspan(static_cast<size_t>(position_), static_cast<size_t>(count));
  position_ += count;
  return taken;
}

int64_t GgufCursor::length(std::string_view what) {
  const auto value = number<uint64_t>(what);
  if (value > static_cast<uint64_t>(INT64_MAX)) fail(fmt::format("{} is {}", what, value), "It must be below 2^63");
  return static_cast<int64_t>(value);
}

std::string_view GgufCursor::string(std::string_view what) {
  const auto bytes = take(length(what), what);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

GgufValue GgufCursor::entry() {
  GgufValue value{path_, string("a key"), GgufKind::uint8};
  within(fmt::format("{}: ", in_quotes(value.key)));
  const auto kind = [&] {
    const auto id = number<uint32_t>("the kind of a value");
    if (id >= kind_names.size()) fail(fmt::format("has kind number {}", id), "The kind is not known");
    return static_cast<GgufKind>(id);
  };
  value.kind = kind();
  if (value.kind == GgufKind::array) {
    value.is_array = true;
    value.kind = kind();
    if (value.kind == GgufKind::array) fail("is an array of arrays", "Arrays hold numbers or strings");
    value.count = length("the length of an array");
  }
  const int64_t begin = position_;
  if (value.kind == GgufKind::string) {
    for (int64_t i = 0; i < value.count; ++i) string("a string");
  } else {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(value.count, bytes_of(value.kind), &bytes))
      fail(fmt::format("has {} elements", value.count), "They must fit into the file");
    take(bytes, "a value");
  }
  value.bytes = bytes_.subspan(static_cast<size_t>(begin), static_cast<size_t>(position_ - begin));
  within("");
  return value;
}

bool GgufValue::as_bool() const {
  if (is_array || kind != GgufKind::boolean) wrong_kind(*this, "a boolean");
  return element<uint8_t>(*this, 0) != 0;
}

int64_t GgufValue::as_integer() const {
  if (is_array) wrong_kind(*this, "one whole number");
  return integer_at(*this, 0);
}

double GgufValue::as_number() const {
  if (is_array) wrong_kind(*this, "one number");
  return number_at(*this, 0);
}

std::string_view GgufValue::as_string() const {
  if (is_array || kind != GgufKind::string) wrong_kind(*this, "a string");
  return GgufCursor(path, bytes).string("a string");
}

std::vector<int64_t> GgufValue::as_integers() const {
  if (!is_array) wrong_kind(*this, "an array of whole numbers");
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = integer_at(*this, i);
  return values;
}

std::vector<double> GgufValue::as_numbers() const {
  if (!is_array) wrong_kind(*this, "an array of numbers");
  std::vector<double> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = number_at(*this, i);
  return values;
}

std::vector<std::string_view> GgufValue::as_strings() const {
  if (!is_array || kind != GgufKind::string) wrong_kind(*this, "an array of strings");
  GgufCursor cursor(path, bytes);
  std::vector<std::string_view> values(static_cast<size_t>(count));
  for (auto& value : values) value = cursor.string("a string");
  return values;
}

}  // namespace scantling
