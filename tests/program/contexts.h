// A pass context of three blocks a, b, c, each its own unit, and short ways to look at programs.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "scantling/core/error.h"
#include "scantling/program/passes.h"

namespace scantling::test {

inline PassContext three_blocks() {
  PassContext context;
  context.names = {{"a", "b", "c"}, {"ua", "ub", "uc"}};
  context.units_of_block = {{0}, {1}, {2}};
  context.unit_gathers = {true, true, true};
  context.block_backward = {true, true, true};
  context.block_reduces = {true, true, true};
  context.block_updates = {true, true, true};
  context.prefetch = 0;
  return context;
}

inline std::vector<std::string> lines(const Program& program, const PassContext& context) {
  std::vector<std::string> text;
  for (const auto& instruction : program) text.push_back(to_text(instruction, context.names));
  return text;
}

inline int64_t count(const Program& program, Operation operation) {
  return std::count_if(program.begin(), program.end(), [&](const Instruction& i) { return i.operation == operation; });
}

// The place of the first instruction from `from` that reads `text`, or the program's length.
inline size_t find(const Program& program, const PassContext& context, const std::string& text, size_t from = 0) {
  const auto all = lines(program, context);
  return static_cast<size_t>(std::find(all.begin() + static_cast<std::ptrdiff_t>(from), all.end(), text) - all.begin());
}

}  // namespace scantling::test
