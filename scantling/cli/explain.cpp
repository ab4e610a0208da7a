#include <fmt/format.h>

#include <memory>

#include "scantling/cli/commands.h"
#include "scantling/cli/run_arguments.h"
#include "scantling/train/explain.h"

namespace scantling::cli {
namespace {

struct Arguments : RunArguments {
  std::string name;
  bool program = false;
};

void explain(const Arguments& arguments) {
  const auto job = make_job(arguments.load(RunUse::plan));
  if (arguments.json)
    print_json(explain_json(job, arguments.name));
  else if (arguments.program)
    fmt::print("{}", program_text(job));
  else
    fmt::print("{}", explain_text(job, arguments.name));
}

}  // namespace

void add_explain(CLI::App& app) {
  auto* command = app.add_subcommand("explain", "Show where each parameter lies and why, or the program of a rank");
  auto arguments = std::make_shared<Arguments>();
  add_run_arguments(*command, *arguments);
  command->add_option("NAME", arguments->name, "Only parameters whose name matches this pattern");
  command->add_flag("--program", arguments->program, "Print a rank's program, one instruction a line");
  command->callback([arguments] { explain(*arguments); });
}

}  // namespace scantling::cli
