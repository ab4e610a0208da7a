#include "scantling/models/rotary_angles.h"

#include <ATen/ops/empty.h>

#include <cmath>
#include <numbers>

namespace scantling {
namespace {

// NTK-aware base for rows longer than the model was trained for.
double dynamic_base(const RopeConfig& rope, int64_t head_dim, int64_t tokens) {
  if (tokens <= rope.original_max_positions) return rope.theta;
  const double stretch = rope.factor * static_cast<double>(tokens) / static_cast<double>(rope.original_max_positions) - (rope.factor - 1);
  return rope.theta * std::pow(stretch, static_cast<double>(head_dim) / static_cast<double>(head_dim - 2));
}

// Llama 3.1: long wavelengths are divided by the factor, short ones kept, those between blended.
double llama3_frequency(const RopeConfig& rope, double frequency) {
  const double turns = static_cast<double>(rope.original_max_positions) * frequency / (2 * std::numbers::pi);
  if (turns < rope.low_freq_factor) return frequency / rope.factor;
  if (turns > rope.high_freq_factor) return frequency;
  const double keep = (turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
  return (1 - keep) * frequency / rope.factor + keep * frequency;
}

}  // namespace

std::vector<double> rotary_frequencies(const RopeConfig& rope, int64_t head_dim, int64_t tokens) {
  const double base = rope.kind == RopeKind::dynamic ? dynamic_base(rope, head_dim, tokens) : rope.theta;
  std::vector<double> frequencies;
  for (int64_t j = 0; j < head_dim / 2; j++) {
    double frequency = std::pow(base, -2.0 * static_cast<double>(j) / static_cast<double>(head_dim));
    if (rope.kind == RopeKind::linear) frequency /= rope.factor;
    if (rope.kind == RopeKind::llama3) frequency = llama3_frequency(rope, frequency);
    frequencies.push_back(frequency);
  }
  return frequencies;
}

std::pair<at::Tensor, at::Tensor> rotary_angles(const RopeConfig& rope, int64_t head_dim, const at::Tensor& positions) {
  const int64_t half = head_dim / 2;
  auto cos = at::empty({positions.size(0), positions.size(1), half}, positions.options().dtype(at::kFloat));
  auto sin = at::empty(cos.sizes(), cos.options());
  if (positions.is_meta()) return {cos, sin};
  const auto frequencies = rotary_frequencies(rope, head_dim, positions.size(1));
  const auto* position = positions.data_ptr<int64_t>();
  auto *c = cos.data_ptr<float>(), *s = sin.data_ptr<float>();
  for (int64_t n = 0; n < positions.numel(); n++)
    for (int64_t j = 0; j < half; j++) {
      const double angle = static_cast<double>(position[n]) * frequencies[static_cast<size_t>(j)];
      c[n * half + j] = static_cast<float>(std::cos(angle));
      s[n * half + j] = static_cast<float>(std::sin(angle));
    }
  return {cos, sin};
}

}  // namespace scantling
