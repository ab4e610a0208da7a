// From a layout to programs: a schedule gives the order of forward and backward, passes add the rest, the verifier refuses what
// cannot work. A new strategy is a new pass and one line in compile.cpp.
//   schedule -> recompute -> shard -> update -> prefetch -> verify
#pragma once

#include <string>
#include <vector>

#include "scantling/program/instruction.h"

namespace scantling {

// What the passes know of one rank: integers and flags, no tensors.
struct PassContext {
  ProgramNames names;
  std::vector<std::vector<int>> units_of_block;  // units a block's parameters belong to
  std::vector<bool> unit_gathers;                // whole parameters of the unit must be made (split over ranks, or another type)
  std::vector<bool> block_backward;              // something at or before the block is trained (backward reaches it)
  std::vector<bool> block_reduces;               // the block uses a trained parameter
  std::vector<bool> block_updates;               // the block is home of a trained parameter
  int micro_batches = 1;                         // accumulation
  bool training = true;                          // false: forward only (evaluation)
  bool recompute = false;
  bool deferred_update = true;  // updates wait for the norm (clipping, or skipping non-finite steps)
  bool combines = false;        // gradients are dealt out over more than one replica
  int prefetch = 1;             // units gathered ahead; above 0 a block's reduction also ends one block later

  int num_blocks() const { return static_cast<int>(names.blocks.size()); }
};

Program compile(const PassContext& context);

}  // namespace scantling
