#include "scantling/cli/run_arguments.h"

#include <fmt/format.h>

#include "scantling/train/run_file.h"

namespace scantling::cli {

RunOptions RunArguments::load(RunUse use) const { return load_run(run, command->remaining(), use); }

void add_run_arguments(CLI::App& command, RunArguments& arguments) {
  arguments.command = &command;
  command.add_option("RUN", arguments.run, "Run file (YAML)")->required();
  command.add_flag("--json", arguments.json, "Print one JSON document on standard output");
  command.allow_extras();
  command.footer("Any field of the run file can be set as --section.key=value, for example --devices.count=4. See docs/run-file.md.");
}

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace scantling::cli
