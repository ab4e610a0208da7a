// Overlap: each gather starts `prefetch` compute instructions before the one that needs it, and each reduction is waited for (and, where
// updates are not deferred, followed by its update) one compute instruction later, so that ranks meet without standing still.
// Adds no communication; holds up to `prefetch` more units whole and one more block's gradients.
#include <algorithm>

#include "scantling/program/passes.h"

namespace scantling {
namespace {

bool computes(Operation operation) {
  return operation == Operation::forward || operation == Operation::recompute || operation == Operation::backward;
}

// Moves each gather_start before the compute instruction that stands `distance` before its wait, but never across an update (which
// writes what is gathered) or a release of the same unit.
void start_early(Program& program, int distance) {
  for (size_t i = 0; i < program.size(); i++) {
    if (program[i].operation != Operation::gather_start) continue;
    size_t to = i;
    for (int passed = 0; to > 0; to--) {
      const auto& before = program[to - 1];
      if (before.operation == Operation::update || before.operation == Operation::load || before.unit == program[i].unit) break;
      if (computes(before.operation) && ++passed > distance) break;
    }
    std::rotate(program.begin() + static_cast<std::ptrdiff_t>(to), program.begin() + static_cast<std::ptrdiff_t>(i),
                program.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

// Moves each reduce_wait, with the combine and update that follow it, behind the next compute instruction of the same micro-batch.
void wait_late(Program& program) {
  for (size_t i = program.size(); i-- > 0;) {
    if (program[i].operation != Operation::reduce_wait) continue;
    size_t end = i + 1;
    while (end < program.size() && (program[end].operation == Operation::combine_start ||
                                    program[end].operation == Operation::combine_wait || program[end].operation == Operation::update))
      end++;
    size_t to = end;
    while (to < program.size() && !computes(program[to].operation) && program[to].operation != Operation::unload &&
           program[to].operation != Operation::reduce_wait)
      to++;
    if (to == program.size() || !computes(program[to].operation)) continue;
    to++;
    while (to < program.size() && program[to].operation == Operation::release) to++;
    std::rotate(program.begin() + static_cast<std::ptrdiff_t>(i), program.begin() + static_cast<std::ptrdiff_t>(end),
                program.begin() + static_cast<std::ptrdiff_t>(to));
  }
}

}  // namespace

void prefetch_pass(Program& program, const PassContext& context) {
  if (context.prefetch <= 0) return;
  wait_late(program);
  start_early(program, context.prefetch);
}

}  // namespace scantling
