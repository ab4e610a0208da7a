#include "scantling/program/instruction.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "scantling/core/error.h"

namespace scantling {
namespace {

constexpr std::string_view operation_names[] = {"count_labels", "load",      "gather_start",  "gather_wait",  "release",
                                                "forward",      "recompute", "backward",      "unload",       "reduce_start",
                                                "reduce_wait",  "norm",      "combine_start", "combine_wait", "update"};

int index_in(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

Instruction parse_line(const std::string& line, const ProgramNames& names) {
  std::istringstream words(line);
  std::string number, word;
  words >> number >> word;
  const auto found = std::find(std::begin(operation_names), std::end(operation_names), word);
  if (found == std::end(operation_names)) throw ConfigError(fmt::format("no operation \"{}\"", word));
  Instruction instruction{static_cast<Operation>(found - std::begin(operation_names))};
  while (words >> word) {
    if (word == "micro-batch")
      words >> instruction.micro_batch;
    else if (word == "unkept")
      instruction.keep = false;
    else if (word == "unit" && words >> word)
      instruction.unit = index_in(names.units, word);
    else
      instruction.block = index_in(names.blocks, word);
    if (word != "micro-batch" && word != "unkept" && instruction.unit < 0 && instruction.block < 0)
      throw ConfigError(fmt::format("no block or unit \"{}\"", word));
  }
  return instruction;
}

}  // namespace

std::string_view name_of(Operation operation) { return operation_names[static_cast<size_t>(operation)]; }

std::string to_text(const Instruction& instruction, const ProgramNames& names) {
  std::string text(name_of(instruction.operation));
  if (instruction.unit >= 0) text += " unit " + names.units[static_cast<size_t>(instruction.unit)];
  if (instruction.block >= 0) text += " " + names.blocks[static_cast<size_t>(instruction.block)];
  if (instruction.micro_batch >= 0) text += fmt::format(" micro-batch {}", instruction.micro_batch);
  if (!instruction.keep) text += " unkept";
  return text;
}

std::string to_text(const Program& program, const ProgramNames& names) {
  std::string text;
  for (size_t i = 0; i < program.size(); i++) text += fmt::format("{:5} {}\n", i, to_text(program[i], names));
  return text;
}

Program parse_program(std::string_view text, const ProgramNames& names) {
  Program program;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') == std::string::npos) continue;
    try {
      program.push_back(parse_line(line, names));
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("Program line {}: {} (\"{}\").", program.size() + 1, error.what(), line));
    }
  }
  return program;
}

}  // namespace scantling
