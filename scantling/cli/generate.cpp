#include <fmt/format.h>

#include <memory>

#include "scantling/cli/commands.h"
#include "scantling/cli/run_arguments.h"
#include "scantling/train/generator.h"

namespace scantling::cli {
namespace {

struct Arguments {
  std::string model, prompt;
  GenerateOptions options;
  bool json = false;
};

void generate(const Arguments& arguments) {
  Faults faults;
  arguments.options.validate(faults);
  faults.throw_if_any();
  const auto result = Generator(arguments.model).generate(arguments.prompt, arguments.options);
  if (arguments.json) return print_json({{"prompt_ids", result.prompt_ids}, {"ids", result.ids}, {"text", result.text}});
  fmt::print("{}{}\n", arguments.options.chat ? "" : arguments.prompt, result.text);
}

}  // namespace

void add_generate(CLI::App& app) {
  auto* command = app.add_subcommand("generate", "Continue a text");
  auto arguments = std::make_shared<Arguments>();
  auto& options = arguments->options;
  command->add_option("MODEL", arguments->model, "Hugging Face folder")->required();
  command->add_option("--prompt", arguments->prompt, "Text to continue")->required();
  command->add_option("--max-new-tokens", options.max_new_tokens, "Most tokens to make")->capture_default_str();
  command->add_option("--temperature", options.temperature, "0: the most likely token each time")->capture_default_str();
  command->add_option("--top-k", options.top_k, "Draw among the k most likely tokens; 0: all")->capture_default_str();
  command->add_option("--top-p", options.top_p, "Draw among the most likely tokens that reach this probability")->capture_default_str();
  auto* seed = command->add_option("--seed", options.seed, "Of the draws")->capture_default_str();
  seed->check([](const std::string& text) { return text.starts_with('-') ? text + " is negative; it must be 0 or more" : ""; });
  command->add_flag("--chat", options.chat, "The prompt is a user's message; write it with the model's chat template");
  command->add_flag("--json", arguments->json, "Print one JSON document on standard output");
  command->callback([arguments] { generate(*arguments); });
}

}  // namespace scantling::cli
