// A block: the piece of a model that the runtime schedules, gathers for and prices. It is written for one rank's view, as a pure
// function of tensors, and knows nothing of layouts; parameters are found through the view, which is the rank's.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "scantling/nn/bundle.h"

namespace scantling {

// An entry of the model's parameter table.
struct Parameter {
  int index = -1;
  bool defined() const { return index >= 0; }
};

// One rank's view of the parameters: whole (gathered) tensors in the compute type, valid while the block runs.
class RankView {
 public:
  explicit RankView(const std::vector<at::Tensor>* parameters) : parameters_(parameters) {}
  at::Tensor operator()(Parameter parameter) const {
    return parameter.defined() ? (*parameters_)[static_cast<size_t>(parameter.index)] : at::Tensor();
  }

 private:
  const std::vector<at::Tensor>* parameters_;  // by index in the table
};

class Block {
 public:
  virtual ~Block() = default;
  // Returns the next block's input. The first block receives ids, labels, positions and starts, each [B, T] int64 (labels only when a
  // loss is wanted); the last returns token_loss [B, T] float32 when labels are there, else logits [B, T, V].
  virtual Bundle forward(const Bundle& in, const RankView& view) const = 0;
};

}  // namespace scantling
