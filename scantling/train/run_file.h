// The run file: YAML plus `--section.key=value` flags in, RunOptions out, and back. Every fault is found before anything is read or
// allocated, and all are shown at once, each with its line or flag, what was found, what is needed and what to write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scantling/train/options.h"

namespace scantling {

// Reads a run file, applies `overrides` ("--train.max_steps=20", in any order), fills in what follows from other values and checks
// everything that `use` needs. The model is not opened. Throws ConfigError with all faults.
RunOptions load_run(const std::string& path, const std::vector<std::string>& overrides, RunUse use = RunUse::train);

// The same for a text; `name` stands in front of line numbers.
RunOptions parse_run(std::string_view text, const std::string& name, const std::vector<std::string>& overrides, RunUse use = RunUse::train);

// Every field with its value. Reading it gives the same options again.
std::string to_yaml(const RunOptions& options);

// The text of docs/run-file.md: an example, then a table for each section.
std::string run_file_markdown();

// For --help: a line or two for each flag.
std::string run_file_help();

}  // namespace scantling
