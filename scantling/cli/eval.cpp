#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "scantling/cli/commands.h"
#include "scantling/cli/run_arguments.h"
#include "scantling/core/text.h"
#include "scantling/train/trainer.h"

namespace scantling::cli {
namespace {

void eval(const RunArguments& arguments) {
  const auto job = make_job(arguments.load(RunUse::evaluate), RunUse::evaluate);
  const auto result = evaluate(job);
  if (!arguments.json) {
    fmt::print("loss {:.6f}, perplexity {:.4f}, {} label tokens in {} rows\n", result.loss, std::exp(result.loss),
               with_commas(result.tokens), result.rows.size());
    return;
  }
  auto samples = nlohmann::ordered_json::array();
  for (const auto& row : result.rows)
    samples.push_back({{"loss", row.tokens == 0 ? 0.0 : row.loss / static_cast<double>(row.tokens)}, {"tokens", row.tokens}});
  print_json({{"loss", result.loss}, {"perplexity", std::exp(result.loss)}, {"tokens", result.tokens}, {"samples", samples}});
}

}  // namespace

void add_eval(CLI::App& app) {
  auto* command = app.add_subcommand("eval", "Mean loss per label token on data.eval (else data.train)");
  auto arguments = std::make_shared<RunArguments>();
  add_run_arguments(*command, *arguments);
  command->callback([arguments] { eval(*arguments); });
}

}  // namespace scantling::cli
