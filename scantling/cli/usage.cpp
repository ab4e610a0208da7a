#include "scantling/cli/usage.h"

#include <fmt/format.h>

#include <utility>

#include "scantling/core/text.h"

namespace scantling::cli {
namespace {

// The innermost command that was read, and the words that lead to it.
std::pair<const CLI::App*, std::string> command_read(const CLI::App& app) {
  const CLI::App* command = &app;
  std::string words = app.get_name();
  for (auto inner = command->get_subcommands(); !inner.empty(); inner = command->get_subcommands()) {
    command = inner.front();
    words += " " + command->get_name();
  }
  return {command, words};
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* inner : command.get_subcommands({}))
    if (!inner->get_group().empty()) names.push_back(inner->get_name());
  return names;
}

}  // namespace

void refuse_repeated_flags(CLI::App& app) {
  for (auto* option : app.get_options()) option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  for (auto* command : app.get_subcommands({})) refuse_repeated_flags(*command);
}

std::string usage_fault(const CLI::App& app, const CLI::ParseError& error) {
  const auto [command, words] = command_read(app);
  const auto names = commands_of(*command);
  if (names.empty()) return fmt::format("{}. Run `{} --help` for what it takes.", error.what(), words);
  std::string given;
  for (const auto& word : command->remaining())
    if (given.empty() && !word.starts_with('-')) given = word;
  if (given.empty()) return fmt::format("No command is given. `{}` has {}. Name one.", words, join_names(names, names.size()));
  const auto nearest = nearest_name(given, names);
  return fmt::format("\"{}\" is no command. `{}` has {}. {}", given, words, join_names(names, names.size()),
                     nearest.empty() ? "Name one of them." : fmt::format("The nearest is {}.", nearest));
}

}  // namespace scantling::cli
