#include <fmt/format.h>

#include <memory>

#include "scantling/cli/commands.h"
#include "scantling/cli/run_arguments.h"
#include "scantling/plan/remedies.h"
#include "scantling/train/plan_report.h"

namespace scantling::cli {
namespace {

void plan(const RunArguments& arguments) {
  const auto job = make_job(arguments.load(RunUse::plan), RunUse::plan);
  const auto planned = price(job.model, job.layout, job.shape, &job.optimizer());
  const bool fits = planned.fits(job.options.devices.memory_bytes);
  std::vector<Remedy> remedies;
  if (!fits) remedies = find_remedies({&job.model, job.options.layout, job.options.devices, job.shape, job.optimizer()});
  if (arguments.json)
    print_json(plan_json(job, planned, remedies));
  else
    fmt::print("{}", plan_text(job, planned, remedies));
  if (!fits) throw ExitStatus{3};
}

}  // namespace

void add_plan(CLI::App& app) {
  auto* command = app.add_subcommand("plan", "Say whether a run fits, and what each device will hold (reads no weights)");
  auto arguments = std::make_shared<RunArguments>();
  add_run_arguments(*command, *arguments);
  command->callback([arguments] { plan(*arguments); });
}

}  // namespace scantling::cli
