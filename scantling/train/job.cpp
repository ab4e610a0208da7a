#include "scantling/train/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "scantling/core/bytes.h"
#include "scantling/models/llama.h"
#include "scantling/plan/remedies.h"
#include "scantling/train/weights.h"

namespace scantling {
namespace {

void expect_trainable(const ModelDescription& model, const Layout& layout, Faults& faults) {
  const auto trained = [](const ParameterPlacement& placement) { return placement.trainable; };
  if (std::any_of(layout.parameters.begin(), layout.parameters.end(), trained)) return;
  faults.add(
      fmt::format("There is nothing to train: layout.freeze matches all {} parameters. Training needs at least one that is not frozen. "
                  "Leave some out of layout.freeze, or use the command eval.",
                  model.parameters.size()));
}

StepShape shape_of(const RunOptions& options, RunUse use) {
  const bool evaluates = use == RunUse::evaluate || !options.data.eval.empty();
  return {options.train.per_device_train_batch_size, options.data.max_length, static_cast<int>(options.train.gradient_accumulation_steps),
          evaluates ? options.train.per_device_eval_batch_size : 0,
          // One device's kernels use the cores that are left to it; strict mode wants bits that do not depend on that.
          options.train.strict ? 1 : std::max(1, compute_cores(options.devices) / options.devices.count)};
}

}  // namespace

int compute_cores(const DeviceOptions& devices) {
  return devices.cores > 0 ? devices.cores : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Job make_job(RunOptions options, RunUse use) {
  auto source = open_model(options.model);
  auto model = make_llama(source.llama);
  Faults faults;
  const auto& description = model.description;
  if (options.data.max_length > description.max_positions)
    faults.add(fmt::format("data.max_length ({}) is beyond the position table of {}, which has {}. Use {} or less.",
                           options.data.max_length, source.config_file, description.max_positions, description.max_positions));
  Layout layout;
  try {
    layout = resolve_layout(description, options.layout, options.devices);
  } catch (const ConfigError& error) {
    faults.add(error.what());
  }
  if (use == RunUse::train && faults.empty()) {
    expect_trainable(description, layout, faults);
    expect_export(source, options.train.output_dir, faults);
  }
  faults.throw_if_any();
  const auto shape = shape_of(options, use);
  return {std::move(options), std::move(source), std::move(model), std::move(layout), shape, use};
}

void require_fit(const Job& job, const Price& price) {
  const int64_t budget = job.options.devices.memory_bytes;
  if (price.fits(budget)) return;
  std::string text = fmt::format("The run does not fit: a device needs {} ({} bytes) at its peak, devices.memory is {} ({} bytes).",
                                 format_bytes(price.largest_peak()), price.largest_peak(), format_bytes(budget), budget);
  for (const auto& remedy :
       find_remedies({&job.model, job.options.layout, job.options.devices, job.shape, job.optimizer(), job.use != RunUse::evaluate}))
    text += fmt::format(" {}: {}.", remedy.change, format_bytes(remedy.peak_bytes));
  throw OutOfDeviceMemory(text);
}

}  // namespace scantling
