#include "scantling/plan/price.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <map>

#include "scantling/program/context.h"
#include "scantling/runtime/rank_runtime.h"

namespace scantling {
namespace {

// Ranks with equal parts of every parameter run equal programs on equal shapes.
std::vector<int64_t> signature(const ModelDescription& model, const Layout& layout, Rank rank) {
  std::vector<int64_t> sizes;
  const auto shard = static_cast<size_t>(layout.mesh.coordinate(rank, "shard"));
  for (int p = 0; p < static_cast<int>(model.parameters.size()); p++) {
    sizes.push_back(layout.parameters[static_cast<size_t>(p)].split.sizes[shard]);
    sizes.push_back(layout.gradient_rows(p, rank).size());
  }
  return sizes;
}

int64_t received(const CommunicationLog& log) {
  int64_t bytes = 0;
  for (const auto& record : log) {
    const auto members = static_cast<int64_t>(record.members.size());
    if (members > 1) bytes += record.bytes / members * (members - 1);
  }
  return bytes;
}

StepInputs shape_only(const StepShape& shape, int64_t rows, int micro_batches, const OptimizerOptions* optimizer) {
  StepInputs inputs;
  for (int m = 0; m < micro_batches; m++) inputs.micro_batches.push_back({.rows = rows, .length = shape.length});
  inputs.deferred_update = optimizer && defers_update(*optimizer);
  return inputs;
}

// The calling thread's number of kernel threads, for a while.
class KernelThreads {
 public:
  explicit KernelThreads(int threads) : before_(at::get_num_threads()) { at::set_num_threads(threads); }
  ~KernelThreads() { at::set_num_threads(before_); }
  KernelThreads(const KernelThreads&) = delete;
  KernelThreads& operator=(const KernelThreads&) = delete;

 private:
  int before_;
};

RankPrice price_rank(const Model& model, const Layout& layout, const StepShape& shape, const OptimizerOptions* optimizer, Rank rank) {
  auto log = std::make_shared<CommunicationLog>();
  const auto world = make_recording_communicator(rank, layout.mesh.size(), log);
  Ledger ledger(rank);
  ledger.keep_events();
  RankRuntime runtime(model, layout, ledger, *world, nullptr, {optimizer, 0, {}});
  std::vector<CompiledProgram> programs;
  if (optimizer) {
    const auto context = training_context(model.description, layout, shape.micro_batches, defers_update(*optimizer));
    programs.emplace_back(compile(context), context.names);
    runtime.executor().run(programs.back(), shape_only(shape, shape.rows, shape.micro_batches, optimizer));
  }
  RankPrice price;
  price.bytes_received = received(*log);
  const auto training_peak = ledger.peak().bytes;
  if (shape.evaluation_rows > 0) {
    const auto context = evaluation_context(model.description, layout);
    programs.emplace_back(compile(context), context.names);
    auto inputs = shape_only(shape, shape.evaluation_rows, 1, optimizer);
    inputs.training = false;
    runtime.executor().run(programs.back(), inputs);
  }
  price.rank = rank;
  price.peak = ledger.peak();
  price.category_peaks = ledger.category_peaks();
  price.workspace_bytes = ledger.wanted_workspace_bytes();
  price.tensors = ledger.tensors_at_peak();
  const auto& program = price.peak.bytes > training_peak || !optimizer ? programs.back() : programs.front();
  price.instruction = price.peak.instruction < 0 ? "set-up" : program.texts[static_cast<size_t>(price.peak.instruction)];
  // The reservation is held from beginning to end, so it moves every level alike.
  const auto slot = static_cast<size_t>(Category::workspace);
  price.peak.bytes += price.workspace_bytes;
  price.peak.categories[slot] += price.workspace_bytes;
  price.category_peaks[slot] += price.workspace_bytes;
  return price;
}

}  // namespace

bool defers_update(const OptimizerOptions& optimizer) { return optimizer.max_grad_norm > 0 || optimizer.nonfinite == NonFinite::skip; }

int64_t Price::largest_peak() const {
  int64_t largest = 0;
  for (const auto& rank : ranks) largest = std::max(largest, rank.peak.bytes);
  return largest;
}

Price price(const Model& model, const Layout& layout, const StepShape& shape, const OptimizerOptions* optimizer) {
  const KernelThreads threads(shape.threads);
  Price result;
  std::map<std::vector<int64_t>, size_t> known;
  for (Rank rank = 0; rank < layout.mesh.size(); rank++) {
    const auto [found, fresh] = known.emplace(signature(model.description, layout, rank), result.ranks.size());
    result.ranks.push_back(fresh ? price_rank(model, layout, shape, optimizer, rank) : result.ranks[found->second]);
    result.ranks.back().rank = rank;
  }
  return result;
}

}  // namespace scantling
