// One rank's reduced gradients: float32 sums over all batch ranks and micro-batches of the rows this rank keeps (charged to `gradients`).
// Contributions are added one by one in the order of their global micro-batch number, so R ranks with A accumulations give the same bits
// for every R x A. A weight used by several blocks has one accumulator per use; they are folded in block order at the end.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <vector>

#include "scantling/core/exact_sum.h"
#include "scantling/runtime/optimizer_state.h"

namespace scantling {

struct BlockGradient {
  int parameter;
  at::Tensor whole;  // this rank's contribution, in the compute type
};

class GradientStore {
 public:
  GradientStore(const RankEnvironment& environment, OptimizerState& optimizer) : environment_(environment), optimizer_(optimizer) {}

  // Sums the block's gradients over the batch ranks. `first`: of the step. With `scalars` the sums of parameters that are complete are
  // given to the optimizer piece by piece while they are in cache, and never stored.
  Work start_reduce(int block, const std::vector<BlockGradient>& gradients, bool first, const UpdateScalars* scalars);

  // Folds the uses of the parameters whose home is `block` and adds their squares to the norm.
  void finish(int block);
  // All-gathers the finished gradients of the block over the data axis, to the rank's whole part.
  Work start_combine(int block);
  // Applies them (unless `apply` is false) and drops them.
  void update(int block, const UpdateScalars& scalars, bool apply);

  ExactSum& squares() { return squares_; }
  // The lowest parameter of this rank with a NaN or infinity in its gradient, or -1.
  int nonfinite_parameter() const { return nonfinite_; }
  void begin_step();

 private:
  struct Use {
    int parameter;
    int block;
    bool operator<(const Use& other) const { return std::tie(parameter, block) < std::tie(other.parameter, other.block); }
  };
  struct Range {
    int64_t begin, count;  // elements of the whole parameter
  };

  Range range_of(int parameter, Rank rank) const;
  ReducePiece piece_of(int block, const BlockGradient& gradient, bool first, const UpdateScalars* scalars);
  void consume(int parameter, int64_t offset, const float* sums, int64_t count, const UpdateScalars& scalars);
  void add_squares_of(int parameter, int64_t begin, const float* gradient, int64_t count);
  std::vector<int> homed_at(int block) const;
  Buffer make_buffer(int parameter, int64_t count) const;

  const RankEnvironment& environment_;
  OptimizerState& optimizer_;
  std::map<Use, Buffer> sums_;
  std::map<int, Buffer> combined_;
  std::vector<float> folded_;  // one piece of a folded gradient
  ExactSum squares_;
  int nonfinite_ = -1;
};

}  // namespace scantling
