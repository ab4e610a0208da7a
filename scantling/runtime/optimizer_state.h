// One rank's optimizer: float32 state for its part of every trained parameter (charged to `optimizer`), and the update of any piece of it.
#pragma once

#include <vector>

#include "scantling/optim/options.h"
#include "scantling/runtime/parameter_store.h"

namespace scantling {

// What all updates of one step share.
struct UpdateScalars {
  double learning_rate = 0;
  int64_t number = 1;        // of this update, from 1; skipped steps do not count
  float gradient_scale = 1;  // the clip factor
};

class OptimizerState {
 public:
  OptimizerState(const RankEnvironment& environment, ParameterStore& store, const OptimizerOptions& options);

  // Applies `count` gradients to the elements [offset, offset + count) of this rank's part. Nothing happens when planning.
  void update(int parameter, int64_t offset, const float* gradient, int64_t count, const UpdateScalars& scalars);

 private:
  const RankEnvironment& environment_;
  ParameterStore& store_;
  OptimizerOptions options_;
  std::vector<Buffer> first_, second_;  // AdamW's moments; SGD's momentum is in first_
};

}  // namespace scantling
