// Rotary position angles (Su et al. 2021) with the scalings Hugging Face configurations name.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

#include "scantling/models/description/rope.h"

namespace scantling {

// Radians per position of each pair, head_dim / 2 of them. `tokens` is the row length, which `dynamic` scaling depends on.
std::vector<double> rotary_frequencies(const RopeConfig& rope, int64_t head_dim, int64_t tokens);

// cos and sin of position * frequency: positions [B, T] int64 -> two [B, T, head_dim / 2] float32.
std::pair<at::Tensor, at::Tensor> rotary_angles(const RopeConfig& rope, int64_t head_dim, const at::Tensor& positions);

}  // namespace scantling
