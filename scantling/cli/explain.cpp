#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "scantling/cli/commands.h"
#include "scantling/cli/run_arguments.h"
#include "scantling/train/explain.h"

namespace scantling::cli {
namespace {

struct Arguments : RunArguments {
  std::string name;
  bool program = false;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void explain(const Arguments& arguments) {
  if (arguments.program && !arguments.name.empty())
    throw ConfigError("NAME and --program are both given. NAME chooses parameters, and a program has none of its own. Remove one.");
  const auto job = make_job(arguments.load(RunUse::plan), RunUse::plan);
  if (arguments.json && arguments.program)
    print_json({{"program", lines_of(program_text(job))}});
  else if (arguments.json)
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
