#include <fmt/format.h>

#include <memory>

#include "scantling/checkpoint/inspect.h"
#include "scantling/cli/commands.h"
#include "scantling/cli/run_arguments.h"

namespace scantling::cli {
namespace {

struct Arguments {
  std::string path;
  bool json = false;
};

void inspect_command(const Arguments& arguments) {
  const auto found = inspect(arguments.path);
  if (arguments.json) return print_json(found);
  fmt::print("{}", inspect_text(found));
}

}  // namespace

void add_checkpoint(CLI::App& app) {
  auto* group = app.add_subcommand("checkpoint", "Look at weight files");
  group->require_subcommand(1);
  auto* command = group->add_subcommand("inspect", "List the tensors of a file or folder (safetensors, GGUF)");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("PATH", arguments->path, "File or folder")->required();
  command->add_flag("--json", arguments->json, "Print one JSON document on standard output");
  command->callback([arguments] { inspect_command(*arguments); });
}

}  // namespace scantling::cli
