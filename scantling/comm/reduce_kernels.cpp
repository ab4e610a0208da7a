// Loops of one addition per element: no product, nothing to fuse, so every instruction set gives the same bits.
#include "scantling/comm/reduce_kernels.h"

#include "scantling/core/error.h"
#include "scantling/core/vectorized.h"

namespace scantling {
namespace {

SCANTLING_VECTORIZED void add_float32(float* sums, const float* contribution, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += contribution[i];
}

SCANTLING_VECTORIZED void add_bfloat16(float* sums, const uint16_t* contribution, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += bfloat16_to_float(contribution[i]);
}

SCANTLING_VECTORIZED void add_float16(float* sums, const uint16_t* contribution, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += float16_to_float(contribution[i]);
}

template <typename T, typename Function>
void combine_each(void* into, const void* from, int64_t count, Function function) {
  auto* target = static_cast<T*>(into);
  const auto* source = static_cast<const T*>(from);
  for (int64_t i = 0; i < count; ++i) target[i] = function(target[i], source[i]);
}

template <typename T>
void combine_typed(void* into, const void* from, int64_t count, ReduceOperation operation) {
  if (operation == ReduceOperation::sum) {
    combine_each<T>(into, from, count, [](T a, T b) { return a + b; });
  } else {
    combine_each<T>(into, from, count, [](T a, T b) { return b > a || b != b ? b : a; });
  }
}

}  // namespace

void add_to_sums(float* sums, const void* contribution, DType dtype, int64_t count) {
  switch (dtype) {
    case DType::float32: add_float32(sums, static_cast<const float*>(contribution), count); return;
    case DType::bfloat16: add_bfloat16(sums, static_cast<const uint16_t*>(contribution), count); return;
    case DType::float16: add_float16(sums, static_cast<const uint16_t*>(contribution), count); return;
    default: check(false, "sums of float32, bfloat16 or float16");
  }
}

void combine(void* into, const void* from, int64_t count, DType dtype, ReduceOperation operation) {
  switch (dtype) {
    case DType::float32: combine_typed<float>(into, from, count, operation); return;
    case DType::float64: combine_typed<double>(into, from, count, operation); return;
    case DType::int64:
      if (operation == ReduceOperation::sum) {
        combine_each<uint64_t>(into, from, count, [](uint64_t a, uint64_t b) { return a + b; });
      } else {
        combine_typed<int64_t>(into, from, count, operation);
      }
      return;
    default: check(false, "reductions of float32, float64 or int64");
  }
}

}  // namespace scantling
