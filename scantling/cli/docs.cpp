#include <fmt/format.h>

#include "scantling/cli/commands.h"
#include "scantling/train/run_file.h"

namespace scantling::cli {
namespace {

// `before`: the words that lead to the command.
void print_command(const CLI::App& command, const std::string& before) {
  const auto children = command.get_subcommands({});
  const auto path = before + (before.empty() ? "" : " ") + command.get_name();
  if (children.empty()) fmt::print("\n## `{}`\n\n{}\n\n```\n{}```\n", path, command.get_description(), command.help(before));
  for (const auto* child : children)
    if (!child->get_group().empty()) print_command(*child, path);
}

void print_cli(const CLI::App& app) {
  fmt::print(
      "# Commands\n\nMade by `make docs` from the program itself.\n\n"
      "Exit status: 0 done, 1 failed or unequal, 2 wrong input, 3 does not fit, 128 + N ended by signal N. With `--json`, standard "
      "output is exactly one JSON document and everything else goes to standard error.\n");
  print_command(app, "");
}

}  // namespace

void add_docs(CLI::App& app) {
  auto* group = app.add_subcommand("docs", "Print the pages of docs/ that are made from the program");
  group->group("");
  group->require_subcommand(1);
  group->add_subcommand("cli", "docs/cli.md")->callback([&app] { print_cli(app); });
  group->add_subcommand("run-file", "docs/run-file.md")->callback([] { fmt::print("{}", run_file_markdown()); });
}

}  // namespace scantling::cli
