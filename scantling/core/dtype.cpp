// One table names every type; conversion of every floating pair goes through chunks of float32, one loop per type.
#include "scantling/core/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "scantling/core/error.h"
#include "scantling/core/vectorized.h"

namespace scantling {
namespace {

struct TypeFacts {
  DType dtype;
  int64_t bytes;
  std::string_view name;
  std::string_view safetensors_name;
};

constexpr std::array<TypeFacts, 15> type_facts{{
    {DType::float32, 4, "float32", "F32"},
    {DType::float64, 8, "float64", "F64"},
    {DType::bfloat16, 2, "bfloat16", "BF16"},
    {DType::float16, 2, "float16", "F16"},
    {DType::float8_e4m3, 1, "float8_e4m3", "F8_E4M3"},
    {DType::float8_e5m2, 1, "float8_e5m2", "F8_E5M2"},
    {DType::int64, 8, "int64", "I64"},
    {DType::int32, 4, "int32", "I32"},
    {DType::int16, 2, "int16", "I16"},
    {DType::int8, 1, "int8", "I8"},
    {DType::uint64, 8, "uint64", "U64"},
    {DType::uint32, 4, "uint32", "U32"},
    {DType::uint16, 2, "uint16", "U16"},
    {DType::uint8, 1, "uint8", "U8"},
    {DType::boolean, 1, "boolean", "BOOL"},
}};

const TypeFacts& facts(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  check(index < type_facts.size() && type_facts[index].dtype == dtype, "a known element type");
  return type_facts[index];
}

constexpr int64_t chunk_elements = 1024;

template <typename T>
T load(const std::byte* from, int64_t index) {
  T value;
  std::memcpy(&value, from + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void store(std::byte* to, int64_t index, T value) {
  std::memcpy(to + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

// Rounds to odd, so that rounding once more to a shorter type gives the nearest value of the double itself.
float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  auto bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;
  return std::bit_cast<float>(bits | 1U);
}

SCANTLING_VECTORIZED void widen_bfloat16s(const std::byte* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = bfloat16_to_float(load<uint16_t>(from, i));
}

SCANTLING_VECTORIZED void widen_float16s(const std::byte* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = float16_to_float(load<uint16_t>(from, i));
}

SCANTLING_VECTORIZED void narrow_bfloat16s(const float* from, std::byte* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) store(to, i, float_to_bfloat16(from[i]));
}

SCANTLING_VECTORIZED void narrow_float16s(const float* from, std::byte* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) store(to, i, float_to_float16(from[i]));
}

void to_floats(const std::byte* from, DType type, float* to, int64_t count, bool final) {
  switch (type) {
    case DType::float32: std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float)); return;
    case DType::bfloat16: widen_bfloat16s(from, to, count); return;
    case DType::float16: widen_float16s(from, to, count); return;
    case DType::float64:
      for (int64_t i = 0; i < count; ++i) to[i] = final ? static_cast<float>(load<double>(from, i)) : round_to_odd(load<double>(from, i));
      return;
    case DType::float8_e4m3:
      for (int64_t i = 0; i < count; ++i) to[i] = float8_e4m3_to_float(load<uint8_t>(from, i));
      return;
    case DType::float8_e5m2:
      for (int64_t i = 0; i < count; ++i) to[i] = float8_e5m2_to_float(load<uint8_t>(from, i));
      return;
    default: check(false, "conversion from a floating type");
  }
}

void from_floats(const float* from, std::byte* to, DType type, int64_t count) {
  switch (type) {
    case DType::float32: std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float)); return;
    case DType::bfloat16: narrow_bfloat16s(from, to, count); return;
    case DType::float16: narrow_float16s(from, to, count); return;
    default: check(false, "conversion to float32, bfloat16 or float16");
  }
}

}  // namespace

int64_t size_of(DType dtype) { return facts(dtype).bytes; }
std::string_view name_of(DType dtype) { return facts(dtype).name; }
std::string_view safetensors_name_of(DType dtype) { return facts(dtype).safetensors_name; }

std::optional<DType> dtype_named(std::string_view name) {
  const auto* found = std::find_if(type_facts.begin(), type_facts.end(), [&](const TypeFacts& type) { return type.name == name; });
  return found == type_facts.end() ? std::nullopt : std::optional(found->dtype);
}

std::optional<DType> safetensors_dtype(std::string_view name) {
  const auto* found =
      std::find_if(type_facts.begin(), type_facts.end(), [&](const TypeFacts& type) { return type.safetensors_name == name; });
  return found == type_facts.end() ? std::nullopt : std::optional(found->dtype);
}

bool is_floating(DType dtype) { return dtype <= DType::float8_e5m2; }

void convert(const void* from, DType from_type, void* to, DType to_type, int64_t count) {
  const int64_t from_bytes = size_of(from_type);
  const int64_t to_bytes = size_of(to_type);
  if (from_type == to_type) {
    if (count > 0) std::memmove(to, from, static_cast<size_t>(count * from_bytes));
    return;
  }
  const bool backwards = to_bytes > from_bytes;  // in place, a wider result must not overtake its source
  const int64_t chunks = (count + chunk_elements - 1) / chunk_elements;
  std::array<float, chunk_elements> floats;
  for (int64_t step = 0; step < chunks; ++step) {
    const int64_t begin = (backwards ? chunks - 1 - step : step) * chunk_elements;
    const int64_t length = std::min(chunk_elements, count - begin);
    to_floats(static_cast<const std::byte*>(from) + begin * from_bytes, from_type, floats.data(), length, to_type == DType::float32);
    from_floats(floats.data(), static_cast<std::byte*>(to) + begin * to_bytes, to_type, length);
  }
}

}  // namespace scantling
