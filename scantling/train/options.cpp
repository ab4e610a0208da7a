// Checks that span sections, and the batch arithmetic: global = per device x data x shard x accumulation.
#include "scantling/train/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "scantling/core/text.h"
#include "scantling/optim/schedule.h"

namespace scantling {
namespace {

namespace fs = std::filesystem;

constexpr int64_t most_batch_rows = 1'000'000;
constexpr int64_t most_accumulation_steps = 10'000;  // each is a stretch of the program, which is planned as a whole
constexpr double most_epochs = 1e6, least_timeout_s = 0.001, most_timeout_s = 1e6;

// A path that should exist: if not, the entry of its folder that is nearly spelt like it.
void expect_path(const std::string& key, const std::string& path, Faults& faults) {
  std::error_code ignored, failed;
  if (fs::exists(path, failed)) return;
  if (failed) {
    faults.add(fmt::format("{} is \"{}\", which cannot be reached ({}). It must be readable. Check the rights of its folders.", key, path,
                           failed.message()));
    return;
  }
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  std::vector<std::string> entries;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored))
    entries.push_back(entry->path().filename().string());
  const std::string nearest = nearest_name(fs::path(path).filename().string(), entries);
  const std::string remedy = !nearest.empty() ? fmt::format("The folder has {}.", (fs::path(path).parent_path() / nearest).string())
                             : fs::is_directory(folder, ignored) ? "Correct the path; it is relative to the working folder."
                                                                 : fmt::format("There is no folder {} either.", folder.string());
  faults.add(fmt::format("{} is \"{}\", which does not exist. {}", key, path, remedy));
}

void expect_file(const std::string& key, const std::string& path, Faults& faults) {
  std::error_code ignored;
  if (path.empty()) return;
  if (fs::is_directory(path, ignored))
    faults.add(fmt::format("{} is \"{}\", a folder. It must be a file. Name one of its files.", key, path));
  else
    expect_path(key, path, faults);
}

// The fault of batch sizes that do not work out. `rows` is what a step takes at the least: the product of the known factors.
std::string batch_fault(const TrainOptions& train, const MeshOptions& mesh, int64_t rows) {
  const int64_t below = train.global_batch_size / rows * rows;
  std::string remedy =
      fmt::format("Use train.global_batch_size {}", below >= rows ? fmt::format("{} or {}", below, below + rows) : fmt::format("{}", rows));
  const int64_t ranks = int64_t{mesh.data} * mesh.shard;
  if (train.per_device_train_batch_size > 0 && train.global_batch_size % ranks == 0) {
    std::vector<std::string> pairs;
    for (const int64_t size : divisors(train.global_batch_size / ranks))
      pairs.push_back(fmt::format("{} x {}", size, train.global_batch_size / ranks / size));
    remedy += fmt::format(", or per_device_train_batch_size x gradient_accumulation_steps of {}", join_names(pairs));
  }
  const auto known = [](int64_t size) { return size > 0 ? fmt::format("{}", size) : std::string("?"); };
  return fmt::format(
      "train.global_batch_size is {}, but per_device_train_batch_size {} x data {} x shard {} x gradient_accumulation_steps {} "
      "does not give it. They must be equal. {}.",
      train.global_batch_size, known(train.per_device_train_batch_size), mesh.data, mesh.shard, known(train.gradient_accumulation_steps),
      remedy);
}

// Whether the factors are within what validate() accepts; if not, it has named the fault and there is nothing to work out.
bool factors_are_sound(const RunOptions& options) {
  const MeshOptions& mesh = options.layout.mesh;
  for (const int64_t size :
       {options.train.per_device_train_batch_size, options.train.gradient_accumulation_steps, options.train.global_batch_size})
    if (size < 0 || size > most_batch_rows) return false;
  return mesh.data >= 1 && mesh.shard >= 1 && options.devices.count <= DeviceOptions::most &&
         int64_t{mesh.data} * mesh.shard == options.devices.count;
}

void resolve_batch(TrainOptions& train, const MeshOptions& mesh, Faults& faults) {
  int64_t& rows = train.per_device_train_batch_size;
  int64_t& accumulation = train.gradient_accumulation_steps;
  if (rows == 0 && (train.global_batch_size == 0 || accumulation == 0)) rows = 1;
  if (train.global_batch_size == 0 && accumulation == 0) accumulation = 1;
  const int64_t step_rows = std::max<int64_t>(1, rows) * mesh.data * mesh.shard * std::max<int64_t>(1, accumulation);
  if (train.global_batch_size == 0) train.global_batch_size = step_rows;
  const bool all_given = rows > 0 && accumulation > 0;
  if (all_given ? train.global_batch_size != step_rows : train.global_batch_size % step_rows != 0) {
    faults.add(batch_fault(train, mesh, step_rows));
    return;
  }
  if (rows == 0) rows = train.global_batch_size / step_rows;
  if (accumulation == 0) accumulation = train.global_batch_size / step_rows;
  if (accumulation > most_accumulation_steps)
    faults.add(fmt::format(
        "train.gradient_accumulation_steps is {}. It must be at most {}. Use a larger per_device_train_batch_size or more devices.",
        accumulation, most_accumulation_steps));
}

}  // namespace

void TrainOptions::validate(Faults& faults) const {
  const auto at_least = [&](const char* key, int64_t value, int64_t least, const char* remark = "") {
    if (value < least) faults.add(fmt::format("train.{} is {}. It must be {} or more{}.", key, value, least, remark));
  };
  const auto batch = [&](const char* key, int64_t rows) {
    if (rows < 0 || rows > most_batch_rows) faults.add(fmt::format("train.{} is {}. It must be from 1 to {}.", key, rows, most_batch_rows));
  };
  batch("per_device_train_batch_size", per_device_train_batch_size);
  batch("gradient_accumulation_steps", gradient_accumulation_steps);
  batch("global_batch_size", global_batch_size);
  batch("per_device_eval_batch_size", per_device_eval_batch_size);
  at_least("max_steps", max_steps, 0, "; 0 leaves the end to num_train_epochs");
  at_least("logging_steps", logging_steps, 1);
  at_least("eval_steps", eval_steps, 0);
  if (max_steps == 0 && !(num_train_epochs > 0 && num_train_epochs <= most_epochs))
    faults.add(fmt::format("train.num_train_epochs is {}. It must be above 0 and at most {}. Use 1, or give train.max_steps.",
                           num_train_epochs, most_epochs));
  if (!(communication_timeout_s >= least_timeout_s && communication_timeout_s <= most_timeout_s))
    faults.add(fmt::format("train.communication_timeout_s is {}. It must be from {} to {} seconds. Use 60.", communication_timeout_s,
                           least_timeout_s, most_timeout_s));
  if (output_dir.empty()) faults.add("train.output_dir is empty. A run needs a folder to write to. Use out.");
  const size_t before = faults.list().size();
  optimizer.validate(faults);
  schedule.validate(faults);
  if (faults.list().size() > before || max_steps <= 0) return;
  try {
    Schedule(schedule, optimizer.learning_rate, max_steps);
  } catch (const ConfigError& error) {
    faults.add(error.what());
  }
}

void resolve(RunOptions& options, Faults& faults) {
  if (!factors_are_sound(options)) return;
  resolve_batch(options.train, options.layout.mesh, faults);
  if (options.train.per_device_eval_batch_size == 0) options.train.per_device_eval_batch_size = options.train.per_device_train_batch_size;
}

void validate_together(const RunOptions& options, RunUse use, Faults& faults) {
  if (options.model.empty())
    faults.add("model is not given. A run needs a Hugging Face folder, or a config.json alone to train from scratch. Add \"model: PATH\".");
  else
    expect_path("model", options.model, faults);
  if (options.train.eval_steps > 0 && options.data.eval.empty())
    faults.add(
        fmt::format("train.eval_steps is {}, but there is no data.eval. Evaluation needs a file. Add data.eval, or remove eval_steps.",
                    options.train.eval_steps));
  if (use == RunUse::plan) return;
  if (use == RunUse::train && options.data.train.empty())
    faults.add("data.train is not given. Training needs a file. Add \"train: PATH\" to the section data.");
  if (use == RunUse::evaluate && options.data.train.empty() && options.data.eval.empty())
    faults.add("data.eval is not given. Evaluation needs a file. Add \"eval: PATH\" to the section data.");
  expect_file("data.train", options.data.train, faults);
  expect_file("data.eval", options.data.eval, faults);
}

void validate(const RunOptions& options, RunUse use, Faults& faults) {
  options.data.validate(faults);
  options.devices.validate(faults);
  options.layout.validate(options.devices, faults);
  options.train.validate(faults);
  validate_together(options, use, faults);
}

}  // namespace scantling
