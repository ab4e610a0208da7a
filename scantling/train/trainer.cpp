#include "scantling/train/trainer.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "scantling/core/log.h"
#include "scantling/optim/schedule.h"
#include "scantling/program/context.h"
#include "scantling/program/verify.h"
#include "scantling/train/evaluator.h"
#include "scantling/train/output_folder.h"
#include "scantling/train/rank_group.h"
#include "scantling/train/run_file.h"
#include "scantling/train/stop.h"

namespace scantling {
namespace {

// What the ranks of a run share. Rank 0 keeps the log; the rest is read only, or written at places of each rank's own.
class Run {
 public:
  Run(const Job& job, const Price& price)
      : job_(job),
        price_(price),
        corpus_(load_corpus(job, job.options.data.train)),
        batches_(corpus_.rows(), batch_shape(job), job.options.data.drop_last),
        total_steps_(steps_of(job, batches_)),
        schedule_(job.options.train.schedule, job.optimizer().learning_rate, total_steps_) {
    if (job.options.data.eval.empty()) return;
    held_out_.emplace(load_corpus(job, job.options.data.eval));
    evaluator_.emplace(job_, *held_out_);
  }

  void start() { log_.emplace(job_, total_steps_); }

  // Everything one rank does.
  void train(RankRuntime& rank) {
    const auto context = training_context(job_.model.description, job_.layout, job_.shape.micro_batches, defers_update(job_.optimizer()));
    const CompiledProgram program(compile(context), context.names);
    SampleOrder order(job_.options.train.seed, corpus_.rows(), job_.options.data.shuffle);
    const int64_t every = job_.options.train.eval_steps;
    if (leads(rank)) log_->first_forward();
    evaluate(rank, 0);
    UpdateCounter counter;
    for (int64_t step = 1; step <= total_steps_; step++) {
      train_step(rank, program, order, step, counter);
      if (step == total_steps_ || (every > 0 && step % every == 0)) evaluate(rank, step);
    }
    save(rank);
  }

  void finish() {
    summary_.steps = total_steps_;
    log_->finish(summary_, price_);
  }
  const RunSummary& summary() const { return summary_; }

 private:
  struct UpdateCounter {
    int64_t applied = 0, skipped_in_a_row = 0, skipped = 0, without_labels = 0;
  };

  static BatchShape batch_shape(const Job& job) {
    return {job.options.train.per_device_train_batch_size, job.layout.batch_ranks(), job.options.train.gradient_accumulation_steps};
  }

  static int64_t steps_of(const Job& job, const BatchPlan& batches) {
    return job.options.train.max_steps > 0 ? job.options.train.max_steps : batches.total_steps(job.options.train.num_train_epochs);
  }

  static bool leads(RankRuntime& rank) { return rank.environment().rank == 0; }

  void train_step(RankRuntime& rank, const CompiledProgram& program, SampleOrder& order, int64_t step, UpdateCounter& counter) {
    StepInputs inputs;
    std::vector<MicroBatch> host;
    for (int64_t a = 0; a < batches_.shape().accumulation; a++)
      host.push_back(micro_batch_of(corpus_, rows_of(batches_.micro_batch(step - 1, rank.environment().batch->rank(), a), order)));
    for (const auto& batch : host) inputs.micro_batches.push_back(view_of(batch));
    inputs.scalars = {schedule_.at(step), counter.applied + 1, 1.0f};
    inputs.max_grad_norm = job_.optimizer().max_grad_norm;
    inputs.deferred_update = defers_update(job_.optimizer());
    inputs.skip_nonfinite = job_.optimizer().nonfinite == NonFinite::skip;
    inputs.step = step;
    const auto result = rank.executor().run(program, inputs);
    count(rank, result, step, counter);
    auto devices = device_uses(rank);
    if (!leads(rank)) return;
    StepReport report{step, mean_loss(result), result.grad_norm, inputs.scalars.learning_rate, 0, std::move(devices)};
    for (const int64_t row : rows_of(batches_.step(step - 1), order)) report.tokens += static_cast<int64_t>(corpus_.row(row).ids.size());
    summary_.final_loss = report.loss;
    summary_.skipped_steps = counter.skipped;
    summary_.devices = report.devices;
    log_->step(report);
  }

  static double mean_loss(const StepResult& result) {
    return result.label_tokens == 0 ? std::nan("") : result.loss_sum / static_cast<double>(result.label_tokens);
  }

  void count(RankRuntime& rank, const StepResult& result, int64_t step, UpdateCounter& counter) {
    if (result.label_tokens == 0) {
      if (leads(rank))
        log_warn("step {}: no row of the batch has a label token; no update was made ({} such steps so far)", step,
                 counter.without_labels + 1);
      counter.without_labels++;
      return;
    }
    if (!result.skipped) {
      counter.applied++;
      counter.skipped_in_a_row = 0;
      return;
    }
    counter.skipped++;
    counter.skipped_in_a_row++;
    if (leads(rank))
      log_warn("step {}: the gradient of {} is not finite; the step is skipped on all ranks", step, result.nonfinite_parameter);
    if (counter.skipped_in_a_row > job_.optimizer().max_skipped_steps)
      throw Error(fmt::format(
          "{} steps in a row were skipped because the gradient of {} is not finite (train.max_skipped_steps: {}). Lower learning_rate, "
          "or look at the data of step {}.",
          counter.skipped_in_a_row, result.nonfinite_parameter, job_.optimizer().max_skipped_steps, step));
  }

  // Every rank's ledger, on every rank.
  std::vector<DeviceUse> device_uses(RankRuntime& rank) {
    constexpr int64_t fields = 2 + num_categories;
    auto& world = *rank.environment().world;
    const auto& ledger = *rank.environment().ledger;
    std::vector<int64_t> mine{ledger.current_bytes(), ledger.peak().bytes}, all(static_cast<size_t>(fields * world.size()));
    mine.insert(mine.end(), ledger.peak().categories.begin(), ledger.peak().categories.end());
    world.set_context("device memory");
    world.all_gather({{mine.data(), all.data(), std::vector<int64_t>(static_cast<size_t>(world.size()), fields)}}, DType::int64).wait();
    std::vector<DeviceUse> uses;
    for (Rank r = 0; r < world.size(); r++) {
      const auto* row = all.data() + r * fields;
      DeviceUse use{r, row[0], row[1], {}};
      std::copy_n(row + 2, num_categories, use.categories.begin());
      uses.push_back(use);
    }
    return uses;
  }

  void evaluate(RankRuntime& rank, int64_t step) {
    if (!evaluator_) return;
    const double loss = evaluator_->run(rank).loss;
    auto devices = device_uses(rank);
    if (!leads(rank)) return;
    summary_.devices = std::move(devices);
    (step == 0 ? summary_.eval_loss_before : summary_.eval_loss_after) = loss;
    log_->evaluation(step, loss);
  }

  void save(RankRuntime& rank) {
    auto& world = *rank.environment().world;
    world.set_context("saving the model");
    if (leads(rank)) export_.emplace(job_, std::filesystem::path(job_.options.train.output_dir) / "model", true);
    world.barrier().wait();
    if (job_.layout.mesh.coordinate(world.rank(), "data") == 0)
      for (int p = 0; p < rank.environment().num_parameters(); p++) export_->write_part(rank.parameters(), p);
    world.barrier().wait();
    if (leads(rank)) export_->commit();
  }

  const Job& job_;
  const Price& price_;
  TokenDataset corpus_;
  std::optional<TokenDataset> held_out_;
  BatchPlan batches_;
  int64_t total_steps_;
  Schedule schedule_;
  std::optional<RunLog> log_;
  std::optional<Evaluator> evaluator_;
  std::optional<ModelExport> export_;
  RunSummary summary_;
};

}  // namespace

TrainResult train(const Job& job, bool overwrite) {
  OutputFolder output(job.options.train.output_dir, overwrite);
  TrainResult result;
  result.price = price(job.model, job.layout, job.shape, &job.optimizer());
  require_fit(job, result.price);
  const InitialWeights weights(job.source, job.options.train.seed);
  Run run(job, result.price);
  output.open();
  write_file(output.path() / "run.yaml", to_yaml(job.options));
  run.start();
  RankGroup ranks(job, result.price, true);
  StopWatch stop;
  ranks.run(weights, [&](RankRuntime& rank) { run.train(rank); });
  run.finish();
  result.summary = run.summary();
  return result;
}

Evaluation evaluate(const Job& job) {
  auto shape = job.shape;
  shape.evaluation_rows = job.options.train.per_device_eval_batch_size;
  const auto planned = price(job.model, job.layout, shape, nullptr);
  require_fit(job, planned);
  const auto dataset = load_corpus(job, job.options.data.eval.empty() ? job.options.data.train : job.options.data.eval);
  const InitialWeights weights(job.source, job.options.train.seed);
  RankGroup ranks(job, planned, false);
  Evaluator evaluator(job, dataset);
  Evaluation result;
  StopWatch stop;
  ranks.run(weights, [&](RankRuntime& rank) {
    auto found = evaluator.run(rank);
    if (rank.environment().rank == 0) result = std::move(found);
  });
  return result;
}

}  // namespace scantling
