#include <fmt/format.h>

#include <memory>

#include "scantling/checkpoint/gguf_import.h"
#include "scantling/cli/commands.h"
#include "scantling/cli/run_arguments.h"
#include "scantling/core/text.h"

namespace scantling::cli {
namespace {

struct Arguments {
  std::string file, folder, dtype = "float32";
  bool overwrite = false, json = false;
};

void import(const Arguments& arguments) {
  const auto dtype = dtype_named(arguments.dtype);
  if (dtype != DType::float32 && dtype != DType::bfloat16 && dtype != DType::float16)
    throw ConfigError(
        fmt::format("--dtype ({}) is no element type of written weights. Use float32, bfloat16 or float16.", arguments.dtype));
  const auto result = import_gguf(arguments.file, arguments.folder, {*dtype, arguments.overwrite});
  for (const auto& notice : result.notices) fmt::print(stderr, "scantling: {}\n", notice);
  if (arguments.json) return print_json({{"folder", arguments.folder}, {"parameters", result.parameters}, {"tensors", result.tensors}});
  fmt::print("{}: {} parameters in {} tensors\n", arguments.folder, with_commas(result.parameters), result.tensors);
}

}  // namespace

void add_import(CLI::App& app) {
  auto* group = app.add_subcommand("import", "Bring a model of another format into a Hugging Face folder");
  group->require_subcommand(1);
  auto* command = group->add_subcommand("gguf", "Import a GGUF file (Llama architecture)");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->file, "The .gguf file")->required();
  command->add_option("FOLDER", arguments->folder, "The folder to make")->required();
  command->add_option("--dtype", arguments->dtype, "Element type of the written weights: float32, bfloat16, float16")
      ->capture_default_str();
  command->add_flag("--overwrite", arguments->overwrite, "Replace a folder that is not empty");
  command->add_flag("--json", arguments->json, "Print one JSON document on standard output");
  command->callback([arguments] { import(*arguments); });
}

}  // namespace scantling::cli
