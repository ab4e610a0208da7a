#include "scantling/program/context.h"

#include <algorithm>

namespace scantling {

PassContext training_context(const ModelDescription& model, const Layout& layout, int micro_batches, bool deferred_update) {
  PassContext context;
  for (const auto& block : model.blocks) context.names.blocks.push_back(block.name);
  for (const auto& unit : layout.units) context.names.units.push_back(unit.name);
  context.units_of_block = layout.units_of_block;
  const bool gathers = layout.shards() > 1 || layout.options.precision.compute != DType::float32;
  context.unit_gathers.assign(layout.units.size(), gathers);
  const size_t blocks = model.blocks.size();
  context.block_reduces.assign(blocks, false);
  context.block_updates.assign(blocks, false);
  int first_trained = static_cast<int>(blocks);
  for (size_t p = 0; p < model.parameters.size(); p++) {
    if (!layout.parameters[p].trainable) continue;
    const auto& uses = model.parameters[p].blocks;
    for (const int block : uses) context.block_reduces[static_cast<size_t>(block)] = true;
    context.block_updates[static_cast<size_t>(uses.front())] = true;
    first_trained = std::min(first_trained, uses.front());
  }
  for (size_t b = 0; b < blocks; b++) context.block_backward.push_back(static_cast<int>(b) >= first_trained);
  context.micro_batches = micro_batches;
  context.recompute = layout.options.recompute == Recompute::block;
  context.deferred_update = deferred_update;
  context.combines = layout.replicas() > 1;
  context.prefetch = layout.options.prefetch;
  return context;
}

PassContext evaluation_context(const ModelDescription& model, const Layout& layout) {
  auto context = training_context(model, layout, 1, true);
  context.training = false;
  return context;
}

}  // namespace scantling
