// A step is data: one flat list of instructions per rank. Nothing is decided while it runs.
// Communication comes in two halves, start and wait. Every instruction that touches memory of the rank is here, so pricing the list
// prices the step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace scantling {

enum class Operation : uint8_t {
  count_labels,  // all-reduce the number of label tokens of the whole global batch
  load,          // put a micro-batch on the device
  gather_start,  // make a unit's parameters whole (all-gather over the shard axis, cast to the compute type)
  gather_wait,
  release,       // give a unit's whole parameters up
  forward,       // run a block; keeps what its backward needs, or only its input when `recompute` follows
  recompute,     // run the block's forward again, now keeping what its backward needs
  backward,      // gradients of the block's input and parameters; drops what forward kept
  unload,        // drop the micro-batch
  reduce_start,  // sum a block's parameter gradients over all batch ranks, each part to the rank that keeps it
  reduce_wait,
  norm,           // global gradient norm, the clip factor, and whether the step is skipped
  combine_start,  // all-gather a block's reduced gradients over the data axis, to the rank's whole part
  combine_wait,
  update,  // optimizer on the parameters whose home is the block; drops their gradients
};

std::string_view name_of(Operation operation);

struct Instruction {
  Operation operation;
  int block = -1;        // index in the model, where one is meant
  int unit = -1;         // unit of gathering, likewise
  int micro_batch = -1;  // accumulation index
  bool keep = true;      // forward: keeps what backward needs
  bool operator==(const Instruction&) const = default;
};

using Program = std::vector<Instruction>;

// Names for the indices of a program, for text and messages.
struct ProgramNames {
  std::vector<std::string> blocks;
  std::vector<std::string> units;
};

// "backward model.layers.3 micro-batch 1"
std::string to_text(const Instruction& instruction, const ProgramNames& names);
// One line per instruction, numbered from 0.
std::string to_text(const Program& program, const ProgramNames& names);
// Reads to_text's output back; throws ConfigError with the line of the first fault.
Program parse_program(std::string_view text, const ProgramNames& names);

}  // namespace scantling
