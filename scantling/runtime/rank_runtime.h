// Everything one rank holds and runs, put together the same way for a run and for its price.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "scantling/runtime/executor.h"

namespace scantling {

struct RankRuntimeOptions {
  const OptimizerOptions* optimizer = nullptr;  // null: evaluation only
  int64_t workspace_bytes = 0;                  // the plan's reservation for kernels' scratch
  std::function<void()> poll;                   // before each instruction; may throw
};

class RankRuntime {
 public:
  // `weights` is null when planning. All ranks of `world` must come here together. What is referred to must outlive this.
  RankRuntime(const Model& model, const Layout& layout, Ledger& ledger, Communicator& world, const ProcessWeights* weights,
              const RankRuntimeOptions& options);

  RankEnvironment& environment() { return environment_; }
  ParameterStore& parameters() { return parameters_; }
  Executor& executor() { return *executor_; }

 private:
  RankEnvironment environment_;
  ParameterStore parameters_;
  std::optional<OptimizerState> optimizer_;
  std::optional<GradientStore> gradients_;
  std::optional<Executor> executor_;
};

}  // namespace scantling
