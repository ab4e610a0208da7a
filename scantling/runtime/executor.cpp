#include "scantling/runtime/executor.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>

#include "scantling/memory/scope.h"
#include "scantling/optim/gradient_norm.h"

namespace scantling {

CompiledProgram::CompiledProgram(Program program, const ProgramNames& names) : instructions(std::move(program)) {
  for (const auto& instruction : instructions) texts.push_back(to_text(instruction, names));
}

Executor::Executor(const RankEnvironment& environment, ParameterStore& parameters, GradientStore* gradients, std::function<void()> poll)
    : environment_(environment), parameters_(parameters), gradients_(gradients), poll_(std::move(poll)), view_(&parameters.tensors()) {
  const int blocks = static_cast<int>(environment.model->blocks.size());
  trained_of_block_.resize(static_cast<size_t>(blocks));
  first_trained_block_ = blocks;
  for (int p = 0; p < environment.num_parameters(); p++) {
    if (!environment.placement(p).trainable) continue;
    for (const int block : environment.info(p).blocks) trained_of_block_[static_cast<size_t>(block)].push_back(p);
    first_trained_block_ = std::min(first_trained_block_, environment.info(p).blocks.front());
  }
}

StepResult Executor::run(const CompiledProgram& program, const StepInputs& inputs) {
  inputs_ = &inputs;
  result_ = StepResult();
  loss_ = ExactSum();
  clip_ = 1;
  if (gradients_) gradients_->begin_step();
  for (size_t i = 0; i < program.instructions.size(); i++) {
    if (poll_) poll_();
    environment_.ledger->set_instruction(static_cast<int>(i));
    for (auto* group : {environment_.shard.get(), environment_.data.get(), environment_.batch.get()}) group->set_context(program.texts[i]);
    execute(program.instructions[i]);
    if (program.instructions[i].operation == Operation::count_labels && result_.label_tokens == 0 && environment_.real) return result_;
  }
  sum_losses();
  return result_;
}

void Executor::execute(const Instruction& i) {
  const Key key{i.block, i.micro_batch};
  switch (i.operation) {
    case Operation::count_labels: return count_labels();
    case Operation::load: return load(i.micro_batch);
    case Operation::gather_start: gathers_[i.unit] = parameters_.start_gather(i.unit); return;
    case Operation::gather_wait: gathers_[i.unit].wait(); return;
    case Operation::release: return parameters_.release(i.unit);
    case Operation::forward: return forward(i);
    case Operation::recompute: return recompute(i);
    case Operation::backward: return backward(i);
    case Operation::unload: return finish_micro_batch(i.micro_batch);
    case Operation::reduce_start: return reduce(i);
    case Operation::reduce_wait:
      reductions_[key].wait();
      reductions_.erase(key);
      block_gradients_.erase(key);
      return;
    case Operation::norm: return norm();
    case Operation::combine_start:
      if (!inputs_->deferred_update) gradients_->finish(i.block);
      combines_[i.block] = gradients_->start_combine(i.block);
      return;
    case Operation::combine_wait: combines_[i.block].wait(); return;
    case Operation::update: {
      auto scalars = inputs_->scalars;
      scalars.gradient_scale = clip_;
      const bool streamed = !inputs_->deferred_update && environment_.layout->replicas() == 1;
      return gradients_->update(i.block, scalars, !result_.skipped && !streamed);
    }
  }
}

void Executor::count_labels() {
  int64_t count = 0;
  for (const auto& batch : inputs_->micro_batches) count += batch.label_tokens;
  environment_.batch->all_reduce(&count, 1, DType::int64, ReduceOperation::sum).wait();
  result_.label_tokens = count;
}

bool Executor::trains(int block) const { return inputs_->training && block >= first_trained_block_; }

Bundle Executor::run_block(int block, const Bundle& in, bool with_gradient) {
  const auto index = static_cast<size_t>(block);
  c10::AutoGradMode mode(with_gradient);
  MemoryScope scope(environment_.ledger, Category::activations, environment_.model->description.blocks[index].name);
  return environment_.model->blocks[index]->forward(in, view_);
}

// Cuts the graph at the block's edge; what the block before trains gets a gradient.
Bundle Executor::as_input(const Bundle& bundle, int block) const {
  Bundle in = bundle;
  for (auto& entry : in.entries)
    if (entry.differentiable) {
      entry.tensor = entry.tensor.detach();
      if (block > 0 && trains(block - 1)) entry.tensor.set_requires_grad(true);
    }
  return in;
}

void Executor::forward(const Instruction& i) {
  auto& stream = stream_[i.micro_batch];
  Kept kept{as_input(stream, i.block), {}};
  stream = Bundle();
  const bool recomputed = !i.keep && trains(i.block);
  auto out = run_block(i.block, kept.in, i.keep);
  take_loss(out, i.micro_batch);
  if (i.keep) kept.out = out;
  if (i.keep || recomputed) kept_[{i.block, i.micro_batch}] = std::move(kept);
  stream = std::move(out);
}

void Executor::recompute(const Instruction& i) {
  auto& kept = kept_.at({i.block, i.micro_batch});
  kept.out = run_block(i.block, kept.in, true);
}

void Executor::take_loss(const Bundle& out, int micro_batch) {
  const auto* token_loss = out.find("token_loss");
  if (!token_loss || !environment_.real) return;
  const auto* nll = token_loss->const_data_ptr<float>();
  for (int64_t n = 0; n < token_loss->numel(); n++) loss_.add(nll[n]);
  if (inputs_->on_token_loss) inputs_->on_token_loss(micro_batch, *token_loss);
}

// Every rank adds up to the same bits, whatever the layout: the sum is exact.
void Executor::sum_losses() {
  environment_.batch->set_context("sum of losses");
  auto limbs = loss_.limbs();
  environment_.batch->all_reduce(limbs.data(), static_cast<int64_t>(limbs.size()), DType::int64, ReduceOperation::sum).wait();
  result_.loss_sum = loss_.value();
}

// The lowest non-finite parameter of all ranks, by name order of the table; only called when there is one.
int Executor::first_nonfinite() {
  const int none = environment_.num_parameters();
  int64_t lowest = gradients_->nonfinite_parameter() < 0 ? -none : -gradients_->nonfinite_parameter();
  environment_.batch->all_reduce(&lowest, 1, DType::int64, ReduceOperation::max).wait();
  return static_cast<int>(-lowest);
}

void Executor::norm() {
  if (inputs_->deferred_update)
    for (size_t b = 0; b < environment_.model->blocks.size(); b++) gradients_->finish(static_cast<int>(b));
  auto limbs = gradients_->squares().limbs();
  environment_.batch->all_reduce(limbs.data(), static_cast<int64_t>(limbs.size()), DType::int64, ReduceOperation::sum).wait();
  result_.grad_norm = std::sqrt(gradients_->squares().value());
  if (!environment_.real) return;
  if (!std::isfinite(result_.grad_norm)) {
    const int parameter = first_nonfinite();
    result_.skipped = true;
    result_.nonfinite_parameter = parameter < environment_.num_parameters() ? environment_.info(parameter).name : "the sum over parameters";
    if (!inputs_->skip_nonfinite)
      throw Error(
          fmt::format("Step {}: the gradient of {} is not finite. Lower learning_rate, set max_grad_norm, or use nonfinite: skip, "
                      "which leaves such steps out.",
                      inputs_->step, result_.nonfinite_parameter));
    return;
  }
  clip_ = clip_factor(result_.grad_norm, inputs_->max_grad_norm);
}

}  // namespace scantling
