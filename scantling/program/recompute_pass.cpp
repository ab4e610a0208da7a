// Recompute of whole blocks: forward keeps only the block's input, and its forward runs again right before its backward. All blocks but
// the first (whose input is token ids) and the last (whose backward follows its forward at once). No communication of its own; under
// sharding the gather that backward needs anyway comes before the recompute. Compute: one more forward of these blocks per step.
#include "scantling/program/passes.h"

namespace scantling {

void recompute_pass(Program& program, const PassContext& context) {
  if (!context.recompute || !context.training) return;
  auto applies = [&](const Instruction& i) { return i.block > 0 && i.block + 1 < context.num_blocks(); };
  Program out;
  for (auto instruction : program) {
    if (instruction.operation == Operation::forward && applies(instruction)) instruction.keep = false;
    if (instruction.operation == Operation::backward && applies(instruction))
      out.push_back({.operation = Operation::recompute, .block = instruction.block, .micro_batch = instruction.micro_batch});
    out.push_back(instruction);
  }
  program = std::move(out);
}

}  // namespace scantling
