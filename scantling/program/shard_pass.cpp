// Sharded data parallelism (ZeRO-3, FULL_SHARD): a block's units are gathered before it runs and released when the next compute
// instruction does not need them; after backward the block's gradients are summed, each part to its owner.
// Per step and micro-batch: one all-gather per unit in forward and one in backward (adjacent uses share one), one reduce per block that
// trains. Bytes received per rank and micro-batch: 2 x (n-1)/n of the model in the compute type to gather, and (n-1)/n of it to reduce.
#include <algorithm>

#include "scantling/program/passes.h"

namespace scantling {
namespace {

bool computes(const Instruction& i) {
  return i.operation == Operation::forward || i.operation == Operation::recompute || i.operation == Operation::backward;
}

std::vector<int> gathered_units(const Instruction& instruction, const PassContext& context) {
  std::vector<int> units;
  for (const int unit : context.units_of_block[static_cast<size_t>(instruction.block)])
    if (context.unit_gathers[static_cast<size_t>(unit)]) units.push_back(unit);
  return units;
}

bool contains(const std::vector<int>& list, int value) { return std::find(list.begin(), list.end(), value) != list.end(); }

}  // namespace

void shard_pass(Program& program, const PassContext& context) {
  Program out;
  std::vector<int> held;
  auto needed_next = [&](size_t from) {
    for (size_t i = from; i < program.size(); i++)
      if (computes(program[i])) return gathered_units(program[i], context);
    return std::vector<int>{};
  };
  for (size_t i = 0; i < program.size(); i++) {
    const auto& instruction = program[i];
    if (!computes(instruction)) {
      out.push_back(instruction);
      continue;
    }
    for (const int unit : gathered_units(instruction, context)) {
      if (contains(held, unit)) continue;
      out.push_back({.operation = Operation::gather_start, .unit = unit});
      out.push_back({.operation = Operation::gather_wait, .unit = unit});
      held.push_back(unit);
    }
    out.push_back(instruction);
    // A unit is also given up at the last micro-batch's end: Update writes what a gathered unit shows.
    const auto next = needed_next(i + 1);
    for (const int unit : std::vector<int>(held)) {
      if (contains(next, unit)) continue;
      out.push_back({.operation = Operation::release, .unit = unit});
      std::erase(held, unit);
    }
    if (instruction.operation == Operation::backward && context.block_reduces[static_cast<size_t>(instruction.block)]) {
      out.push_back({.operation = Operation::reduce_start, .block = instruction.block, .micro_batch = instruction.micro_batch});
      out.push_back({.operation = Operation::reduce_wait, .block = instruction.block, .micro_batch = instruction.micro_batch});
    }
  }
  program = std::move(out);
}

}  // namespace scantling
