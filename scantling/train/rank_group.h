// Starts a job's ranks as threads of this process, each with its ledger, budget and runtime, and runs one function on all of them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "scantling/runtime/rank_runtime.h"
#include "scantling/train/job.h"
#include "scantling/train/weights.h"

namespace scantling {

class RankGroup {
 public:
  // Reserves what the plan says. `training` false: no optimizer, no gradients.
  RankGroup(const Job& job, const Price& price, bool training);

  // Every rank fills its part of the weights and calls `body`; returns when all have ended, rethrowing the first failure.
  void run(const InitialWeights& weights, const std::function<void(RankRuntime&)>& body);

  const Ledger& ledger(Rank rank) const { return *ledgers_[static_cast<size_t>(rank)]; }

 private:
  void run_rank(Communicator& world, const InitialWeights& weights, const std::function<void(RankRuntime&)>& body);

  const Job& job_;
  const Price& price_;
  bool training_;
  ProcessWeights weights_;
  std::vector<std::unique_ptr<Ledger>> ledgers_;
};

}  // namespace scantling
