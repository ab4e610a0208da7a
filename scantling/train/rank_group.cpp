#include "scantling/train/rank_group.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <chrono>

#include "scantling/comm/run_ranks.h"
#include "scantling/runtime/compute_slots.h"
#include "scantling/train/stop.h"

namespace scantling {
namespace {

void poll_signals(bool training) {
  if (const int signal = StopWatch::signal())
    throw Interrupted(
        signal, training ? "The run was interrupted between two instructions. Its weights since the start are lost: nothing was saved."
                         : "The evaluation was interrupted between two instructions. It has no result.");
}

}  // namespace

RankGroup::RankGroup(const Job& job, const Price& price, bool training)
    : job_(job), price_(price), training_(training), weights_(job.model.description, job.layout) {
  for (Rank rank = 0; rank < job.layout.mesh.size(); rank++)
    ledgers_.push_back(std::make_unique<Ledger>(rank, job.options.devices.memory_bytes));
}

void RankGroup::run_rank(Communicator& world, const InitialWeights& weights, const std::function<void(RankRuntime&)>& body) {
  at::set_num_threads(job_.shape.threads);
  const auto rank = static_cast<size_t>(world.rank());
  RankRuntimeOptions options{training_ ? &job_.options.train.optimizer : nullptr, price_.ranks[rank].workspace_bytes,
                             [training = training_] { poll_signals(training); }};
  RankRuntime runtime(job_.model, job_.layout, *ledgers_[rank], world, &weights_, options);
  runtime.parameters().fill(weights.reader());
  world.set_context("after loading");
  world.barrier().wait();
  body(runtime);
}

void RankGroup::run(const InitialWeights& weights, const std::function<void(RankRuntime&)>& body) {
  ComputeSlots slots(compute_cores(job_.options.devices));
  ThreadGroupOptions options;
  options.time_limit = std::chrono::milliseconds(static_cast<int64_t>(job_.options.train.communication_timeout_s * 1000));
  options.observer = &slots;
  run_ranks(
      job_.layout.mesh.size(),
      [&](Communicator& world) {
        ComputeSlots::Place place(slots);
        run_rank(world, weights, body);
      },
      options);
}

}  // namespace scantling
