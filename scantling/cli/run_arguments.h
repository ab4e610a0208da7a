// What the commands that take a run file share: RUN, any `--section.key=value`, and --json.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scantling/train/job.h"

namespace scantling::cli {

struct RunArguments {
  std::string run;
  bool json = false;
  const CLI::App* command = nullptr;

  RunOptions load(RunUse use) const;
};

// Adds the arguments to `command`; unknown flags are taken for overrides and checked against the run file's fields.
void add_run_arguments(CLI::App& command, RunArguments& arguments);

// The one JSON document of a command, on standard output.
void print_json(const nlohmann::ordered_json& json);

}  // namespace scantling::cli
