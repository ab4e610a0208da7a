#include "scantling/nn/tensor_types.h"

namespace scantling {

at::ScalarType scalar_type_of(DType dtype) {
  switch (dtype) {
    case DType::float32: return at::kFloat;
    case DType::float64: return at::kDouble;
    case DType::bfloat16: return at::kBFloat16;
    case DType::float16: return at::kHalf;
    case DType::int64: return at::kLong;
    case DType::int32: return at::kInt;
    case DType::uint8: return at::kByte;
    case DType::boolean: return at::kBool;
    default: break;
  }
  throw Error("Element type " + std::string(name_of(dtype)) + " is stored in files only. Tensors of a model are float32 or bfloat16.");
}

DType dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat: return DType::float32;
    case at::kDouble: return DType::float64;
    case at::kBFloat16: return DType::bfloat16;
    case at::kHalf: return DType::float16;
    case at::kLong: return DType::int64;
    case at::kInt: return DType::int32;
    case at::kByte: return DType::uint8;
    case at::kBool: return DType::boolean;
    default: break;
  }
  check(false, "dtype_of: a tensor of an unexpected element type");
  return DType::float32;
}

}  // namespace scantling
