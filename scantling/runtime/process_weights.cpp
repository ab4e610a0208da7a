#include "scantling/runtime/process_weights.h"

#include "scantling/memory/heap.h"

namespace scantling {

ProcessWeights::ProcessWeights(const ModelDescription& model, const Layout& layout) : shared_(layout.options.gather == GatherMode::shared) {
  for (const auto& parameter : model.parameters) counts_.push_back(parameter.count());
  if (!shared_) return;
  const bool low = layout.options.precision.compute != DType::float32;
  for (int replica = 0; replica < layout.replicas(); replica++)
    for (const int64_t count : counts_) {
      masters_.push_back({heap_allocate(static_cast<size_t>(count * 4))});
      if (low) low_.push_back({heap_allocate(static_cast<size_t>(count * size_of(layout.options.precision.compute)))});
    }
}

ProcessWeights::~ProcessWeights() {
  for (size_t i = 0; i < masters_.size(); i++) heap_free(masters_[i].data, static_cast<size_t>(counts_[i % counts_.size()] * 4));
  for (size_t i = 0; i < low_.size(); i++) heap_free(low_[i].data, static_cast<size_t>(counts_[i % counts_.size()] * 2));
}

}  // namespace scantling
