#include "scantling/runtime/rank_runtime.h"

#include "scantling/memory/allocator.h"

namespace scantling {
namespace {

Ledger& with_reservation(Ledger& ledger, int64_t workspace_bytes) {
  install_allocators();
  ledger.reserve_workspace(workspace_bytes);
  return ledger;
}

}  // namespace

RankRuntime::RankRuntime(const Model& model, const Layout& layout, Ledger& ledger, Communicator& world, const ProcessWeights* weights,
                         const RankRuntimeOptions& options)
    : environment_(model, layout, with_reservation(ledger, options.workspace_bytes), world, weights != nullptr),
      parameters_(environment_, weights) {
  if (options.optimizer) {
    optimizer_.emplace(environment_, parameters_, *options.optimizer);
    gradients_.emplace(environment_, *optimizer_);
  }
  executor_.emplace(environment_, parameters_, gradients_ ? &*gradients_ : nullptr, options.poll);
}

}  // namespace scantling
