#include "scantling/train/run_fields_kinds.h"
#include "scantling/train/run_fields_sections.h"

namespace scantling {
namespace {

template <class Access>
Field batch_field(std::string key, std::string unit, std::string missing, std::string doc, Access at) {
  Field field = number_field(std::move(key), std::move(unit), std::move(doc), at, 1);
  field.missing = std::move(missing);
  return field;
}

std::vector<Field> batch_fields() {
  return {
      batch_field(
          "train.per_device_train_batch_size", "rows", "1, or what the other two need",
          "Rows of a micro-batch. Two of the three batch keys fix the third.",
          [](auto& run) -> auto& { return run.train.per_device_train_batch_size; }),
      batch_field(
          "train.gradient_accumulation_steps", "micro-batches", "1, or what the other two need", "Micro-batches of a rank in one step.",
          [](auto& run) -> auto& { return run.train.gradient_accumulation_steps; }),
      batch_field(
          "train.global_batch_size", "rows", "what the other two make",
          "Rows of a step: per_device_train_batch_size x data x shard x gradient_accumulation_steps.",
          [](auto& run) -> auto& { return run.train.global_batch_size; }),
      batch_field(
          "train.per_device_eval_batch_size", "rows", "as in training", "Rows of a micro-batch in evaluation.",
          [](auto& run) -> auto& { return run.train.per_device_eval_batch_size; }),
      number_field(
          "train.max_steps", "steps", "Optimizer steps of the run, through as many epochs as it needs; 0: num_train_epochs decides.",
          [](auto& run) -> auto& { return run.train.max_steps; }),
      number_field(
          "train.num_train_epochs", "epochs", "Passes over the data, when max_steps is 0.",
          [](auto& run) -> auto& { return run.train.num_train_epochs; }),
  };
}

std::vector<Field> schedule_fields() {
  const Words<ScheduleKind> kinds = {{"constant", ScheduleKind::constant},
                                     {"linear", ScheduleKind::linear},
                                     {"cosine", ScheduleKind::cosine},
                                     {"warmup_stable_decay", ScheduleKind::warmup_stable_decay},
                                     {"constant_with_warmup", ScheduleKind::constant}};
  return {
      number_field(
          "train.learning_rate", "", "The highest rate, reached at the end of the warm-up.",
          [](auto& run) -> auto& { return run.train.optimizer.learning_rate; }),
      choice_field(
          "train.lr_scheduler_type", kinds, "The rate's curve after the warm-up.",
          [](auto& run) -> auto& { return run.train.schedule.kind; }),
      number_field(
          "train.warmup_steps", "steps", "Steps in which the rate rises to its highest value.",
          [](auto& run) -> auto& { return run.train.schedule.warmup_steps; }),
      number_field(
          "train.decay_steps", "steps", "For warmup_stable_decay: steps of the decay; 0: a tenth of the run.",
          [](auto& run) -> auto& { return run.train.schedule.decay_steps; }),
      number_field(
          "train.min_learning_rate", "", "Where the decay ends.", [](auto& run) -> auto& { return run.train.schedule.min_learning_rate; }),
  };
}

std::vector<Field> optimizer_fields() {
  return {
      choice_field<OptimizerKind>(
          "train.optim", {{"adamw", OptimizerKind::adamw}, {"sgd", OptimizerKind::sgd}}, "The optimizer.",
          [](auto& run) -> auto& { return run.train.optimizer.kind; }),
      number_field(
          "train.adam_beta1", "", "AdamW: decay of the mean of gradients.",
          [](auto& run) -> auto& { return run.train.optimizer.adam_beta1; }),
      number_field(
          "train.adam_beta2", "", "AdamW: decay of the mean of their squares.",
          [](auto& run) -> auto& { return run.train.optimizer.adam_beta2; }),
      number_field(
          "train.adam_epsilon", "", "AdamW: added to the square root.",
          [](auto& run) -> auto& { return run.train.optimizer.adam_epsilon; }),
      number_field(
          "train.momentum", "", "SGD: share of the last update that is kept.",
          [](auto& run) -> auto& { return run.train.optimizer.momentum; }),
      number_field(
          "train.weight_decay", "", "Decoupled decay of matrices; norms and biases do not decay.",
          [](auto& run) -> auto& { return run.train.optimizer.weight_decay; }),
      number_field(
          "train.max_grad_norm", "", "Gradients are scaled by min(1, max / (norm + 1e-6)); 0: no clipping.",
          [](auto& run) -> auto& { return run.train.optimizer.max_grad_norm; }),
      choice_field<NonFinite>(
          "train.nonfinite", {{"skip", NonFinite::skip}, {"stop", NonFinite::stop}},
          "A step whose gradient is not finite is left out, or ends the run.",
          [](auto& run) -> auto& { return run.train.optimizer.nonfinite; }),
      number_field(
          "train.max_skipped_steps", "steps", "So many left out in a row end the run.",
          [](auto& run) -> auto& { return run.train.optimizer.max_skipped_steps; }),
  };
}

}  // namespace

std::vector<Field> train_fields() {
  std::vector<Field> fields;
  for (auto part : {batch_fields(), schedule_fields(), optimizer_fields()})
    for (auto& field : part) fields.push_back(std::move(field));
  fields.push_back(flag_field(
      "train.strict", "Results do not depend on the layout in a single bit.", [](auto& run) -> auto& { return run.train.strict; }));
  fields.push_back(number_field(
      "train.seed", "", "Of initial weights and of the order of rows.", [](auto& run) -> auto& { return run.train.seed; }));
  fields.push_back(number_field(
      "train.logging_steps", "steps", "Steps between rows of metrics.jsonl.", [](auto& run) -> auto& { return run.train.logging_steps; }));
  fields.push_back(number_field(
      "train.eval_steps", "steps", "Steps between evaluations; 0: before the first and after the last step.",
      [](auto& run) -> auto& { return run.train.eval_steps; }));
  fields.push_back(number_field(
      "train.communication_timeout_s", "s", "A rank that keeps the others waiting longer ends the run.",
      [](auto& run) -> auto& { return run.train.communication_timeout_s; }));
  fields.push_back(text_field(
      "train.output_dir", "path", "The folder of metrics, summary and model.", [](auto& run) -> auto& { return run.train.output_dir; }));
  return fields;
}

}  // namespace scantling
