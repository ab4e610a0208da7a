// Counting labels, the gradient norm and the optimizer. Deferred (clipping, or skipping steps that are not finite): all updates come after
// the norm, at the end. Otherwise a block's parameters are updated as soon as its last gradient is reduced, which saves holding the sharded
// gradients of the whole model. With several replicas each one's part of a gradient is first combined to the rank's whole part.
// Per step: one all-reduce of one integer, one small all-reduce for the norm, and with replicas one all-gather per updated block.
#include "scantling/program/passes.h"

namespace scantling {
namespace {

void push_update(Program& out, const PassContext& context, int block) {
  if (context.combines) {
    out.push_back({.operation = Operation::combine_start, .block = block});
    out.push_back({.operation = Operation::combine_wait, .block = block});
  }
  out.push_back({.operation = Operation::update, .block = block});
}

}  // namespace

void update_pass(Program& program, const PassContext& context) {
  program.insert(program.begin(), {.operation = Operation::count_labels});
  if (!context.training) return;
  if (context.deferred_update) {
    program.push_back({.operation = Operation::norm});
    for (int b = context.num_blocks() - 1; b >= 0; b--)
      if (context.block_updates[static_cast<size_t>(b)]) push_update(program, context, b);
    return;
  }
  Program out;
  for (const auto& instruction : program) {
    out.push_back(instruction);
    const bool last = instruction.micro_batch == context.micro_batches - 1;
    if (instruction.operation == Operation::reduce_wait && last && context.block_updates[static_cast<size_t>(instruction.block)])
      push_update(out, context, instruction.block);
  }
  out.push_back({.operation = Operation::norm});
  program = std::move(out);
}

}  // namespace scantling
