#include "scantling/train/evaluator.h"

#include <fmt/format.h>

#include "scantling/core/exact_sum.h"
#include "scantling/program/context.h"

namespace scantling {
namespace {

CompiledProgram forward_program(const Job& job) {
  const auto context = evaluation_context(job.model.description, job.layout);
  return CompiledProgram(compile(context), context.names);
}

}  // namespace

Evaluator::Evaluator(const Job& job, const TokenDataset& dataset)
    : job_(job),
      dataset_(dataset),
      plan_(evaluation_plan(dataset.rows(), job.options.train.per_device_eval_batch_size, job.layout.batch_ranks())),
      program_(forward_program(job)),
      rows_(static_cast<size_t>(dataset.rows())) {
  if (dataset.total_label_tokens() == 0)
    throw DataError(
        fmt::format("None of the {} rows to evaluate has a label token within data.max_length ({}). A mean loss needs at least one. "
                    "Raise data.max_length, or look at the labels.",
                    dataset.rows(), job.options.data.max_length));
}

void Evaluator::run_batch(RankRuntime& rank, int64_t step, SampleOrder& order) {
  const auto& environment = rank.environment();
  const auto rows = rows_of(plan_.micro_batch(step, environment.batch->rank(), 0), order);
  const auto batch = micro_batch_of(dataset_, rows);
  StepInputs inputs;
  inputs.micro_batches = {view_of(batch)};
  inputs.training = false;
  inputs.on_token_loss = [&](int, const at::Tensor& token_loss) {
    const auto* nll = token_loss.const_data_ptr<float>();
    for (size_t r = 0; r < rows.size(); r++) {
      RowLoss row{0, dataset_.label_tokens(rows[r])};
      for (int64_t t = 0; t < batch.length; t++) row.loss += nll[static_cast<int64_t>(r) * batch.length + t];
      rows_[static_cast<size_t>(rows[r])] = row;
    }
  };
  rank.executor().run(program_, inputs);
}

Evaluation Evaluator::run(RankRuntime& rank) {
  SampleOrder order(0, dataset_.rows(), false);
  for (int64_t step = 0; step < plan_.steps_per_epoch(); step++) run_batch(rank, step, order);
  auto& world = *rank.environment().world;
  world.set_context("end of evaluation");
  world.barrier().wait();
  auto result = sum();
  world.barrier().wait();  // the next evaluation overwrites the rows
  return result;
}

Evaluation Evaluator::sum() const {
  Evaluation result;
  ExactSum total;
  for (const auto& row : rows_) {
    total.add(row.loss);
    result.tokens += row.tokens;
  }
  result.loss = result.tokens == 0 ? 0 : total.value() / static_cast<double>(result.tokens);
  result.rows = rows_;
  return result;
}

}  // namespace scantling
