// Operations against the same formula in float64 built from LibTorch's own operations: results and gradients, float32 and bfloat16.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <vector>

#include "scantling/core/random.h"

namespace scantling::test {

using Tensors = std::vector<at::Tensor>;
using Function = std::function<at::Tensor(const Tensors&)>;

// Normal numbers that depend on `stream` only.
inline at::Tensor normal(at::IntArrayRef shape, uint64_t stream, at::ScalarType type = at::kFloat) {
  auto tensor = at::empty(shape, at::TensorOptions().dtype(at::kFloat));
  fill_normal(7, stream, 0, {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())}, 1.0f);
  return tensor.to(type);
}

inline at::Tensor whole_numbers(at::IntArrayRef shape, const std::vector<int64_t>& values) {
  auto tensor = at::empty(shape, at::TensorOptions().dtype(at::kLong));
  std::copy(values.begin(), values.end(), tensor.data_ptr<int64_t>());
  return tensor;
}

// The largest difference as a part of the largest expected magnitude.
inline void expect_close(const at::Tensor& actual, const at::Tensor& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  if (expected.numel() == 0) return;
  const auto difference = (actual.to(at::kDouble) - expected.to(at::kDouble)).abs().max().item<double>();
  const auto scale = expected.to(at::kDouble).abs().max().item<double>();
  EXPECT_LE(difference, tolerance * scale + 1e-7) << what << ": largest expected value " << scale;
}

struct Outcome {
  at::Tensor result;
  Tensors gradients;  // of each input that is floating
};

inline Outcome run(const Function& function, const Tensors& values, at::ScalarType type) {
  Tensors inputs, wanted;
  for (const auto& value : values) {
    inputs.push_back(value.is_floating_point() ? value.detach().to(type).clone().set_requires_grad(true) : value);
    if (value.is_floating_point()) wanted.push_back(inputs.back());
  }
  Outcome outcome{function(inputs), {}};
  const auto direction = normal(outcome.result.sizes(), 99, outcome.result.scalar_type());
  outcome.gradients = torch::autograd::grad({outcome.result}, wanted, {direction});
  return outcome;
}

// `ours` in float32 (1e-5) and bfloat16 (2e-2) against `reference` in float64 on the same values.
inline void expect_equal(const Function& ours, const Function& reference, const Tensors& values) {
  for (const auto& [type, tolerance] : {std::pair{at::kFloat, 1e-5}, std::pair{at::kBFloat16, 2e-2}}) {
    Tensors rounded;
    for (const auto& value : values) rounded.push_back(value.is_floating_point() ? value.to(type) : value);
    const auto actual = run(ours, rounded, type), expected = run(reference, rounded, at::kDouble);
    const std::string name = type == at::kFloat ? "float32 " : "bfloat16 ";
    expect_close(actual.result, expected.result, tolerance, name + "result");
    for (size_t i = 0; i < actual.gradients.size(); i++)
      expect_close(actual.gradients[i], expected.gradients[i], tolerance, name + "gradient of input " + std::to_string(i));
  }
}

}  // namespace scantling::test
