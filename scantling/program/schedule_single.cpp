// One stage: every micro-batch goes forward through all blocks and back through those that something trained lies at or before.
// No communication.
#include "scantling/program/passes.h"

namespace scantling {

Program schedule_single(const PassContext& context) {
  Program program;
  for (int m = 0; m < context.micro_batches; m++) {
    program.push_back({.operation = Operation::load, .micro_batch = m});
    for (int b = 0; b < context.num_blocks(); b++) {
      const bool keep = context.training && context.block_backward[static_cast<size_t>(b)];
      program.push_back({.operation = Operation::forward, .block = b, .micro_batch = m, .keep = keep});
    }
    if (context.training)
      for (int b = context.num_blocks() - 1; b >= 0; b--)
        if (context.block_backward[static_cast<size_t>(b)])
          program.push_back({.operation = Operation::backward, .block = b, .micro_batch = m});
    program.push_back({.operation = Operation::unload, .micro_batch = m});
  }
  return program;
}

}  // namespace scantling
