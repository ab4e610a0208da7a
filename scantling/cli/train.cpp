#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "scantling/cli/commands.h"
#include "scantling/cli/run_arguments.h"
#include "scantling/core/bytes.h"
#include "scantling/train/trainer.h"

namespace scantling::cli {
namespace {

struct Arguments : RunArguments {
  bool overwrite = false;
};

void train(const Arguments& arguments) {
  const auto job = make_job(arguments.load(RunUse::train), RunUse::train);
  const auto result = scantling::train(job, arguments.overwrite);
  const auto& output = job.options.train.output_dir;
  if (arguments.json) return print_json(nlohmann::ordered_json::parse(std::ifstream(output + "/summary.json")));
  fmt::print("{} steps, final loss {:.4f}, {:.0f} tokens/s, model in {}/model\n\n{}process resident memory at its peak: {}\n",
             result.summary.steps, result.summary.final_loss, result.summary.tokens_per_second, output,
             memory_table(result.price, result.summary.devices, job.options.devices.memory_bytes),
             format_bytes(result.summary.process_peak_rss_bytes));
}

}  // namespace

void add_train(CLI::App& app) {
  auto* command = app.add_subcommand("train", "Train, and write metrics, summary and the model into output_dir");
  auto arguments = std::make_shared<Arguments>();
  add_run_arguments(*command, *arguments);
  command->add_flag("--overwrite", arguments->overwrite, "Replace a finished run in output_dir");
  command->callback([arguments] { train(*arguments); });
}

}  // namespace scantling::cli
