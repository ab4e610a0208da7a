// The executor's tensor half: batches onto the device, backward through one block, its gradients on their way.
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstring>

#include "scantling/memory/scope.h"
#include "scantling/runtime/executor.h"

namespace scantling {

void Executor::load(int micro_batch) {
  const auto& batch = inputs_->micro_batches.at(static_cast<size_t>(micro_batch));
  MemoryScope scope(environment_.ledger, Category::data, "micro-batch");
  auto tensor = [&](const int64_t* from) {
    auto to =
        at::empty({batch.rows, batch.length}, at::TensorOptions().dtype(at::kLong).device(environment_.real ? c10::kCPU : c10::kMeta));
    if (environment_.real) std::memcpy(to.data_ptr(), from, to.nbytes());
    return to;
  };
  Bundle bundle;
  bundle.set("ids", tensor(batch.ids), false);
  bundle.set("labels", tensor(batch.labels), false);
  bundle.set("positions", tensor(batch.positions), false);
  bundle.set("starts", tensor(batch.starts), false);
  stream_[micro_batch] = std::move(bundle);
}

void Executor::finish_micro_batch(int micro_batch) {
  stream_.erase(micro_batch);
  stream_gradient_.erase(micro_batch);
}

// The derivative of the mean loss with respect to each token's loss: one over the label tokens of the whole global batch.
at::Tensor Executor::seed(const at::Tensor& output) const {
  auto gradient = at::empty(output.sizes(), output.options().requires_grad(false));
  if (environment_.real) {
    const auto value = static_cast<float>(1.0 / static_cast<double>(result_.label_tokens));
    std::fill_n(gradient.data_ptr<float>(), gradient.numel(), value);
  }
  return gradient;
}

void Executor::backward(const Instruction& i) {
  const auto index = static_cast<size_t>(i.block);
  const bool last = i.block + 1 == static_cast<int>(environment_.model->blocks.size());
  MemoryScope scope(environment_.ledger, Category::activations, environment_.model->description.blocks[index].name);
  auto node = kept_.extract({i.block, i.micro_batch});
  auto& kept = node.mapped();
  if (last) stream_.erase(i.micro_batch);
  auto incoming = std::move(stream_gradient_[i.micro_batch]);
  torch::autograd::variable_list outputs, output_gradients, wanted;
  for (const auto& entry : kept.out.entries) {
    if (!entry.differentiable || !entry.tensor.requires_grad()) continue;
    const auto* gradient = incoming.find(entry.name);
    if (!last && (!gradient || !gradient->defined())) continue;
    outputs.push_back(entry.tensor);
    output_gradients.push_back(last ? seed(entry.tensor) : *gradient);
  }
  incoming = Bundle();
  Bundle next;
  for (const auto& entry : kept.in.entries)
    if (entry.differentiable && entry.tensor.requires_grad()) {
      wanted.push_back(entry.tensor);
      next.set(entry.name, {}, true);
    }
  const auto& trained = trained_of_block_[index];
  for (const int p : trained) wanted.push_back(parameters_.tensors()[static_cast<size_t>(p)]);
  auto gradients = torch::autograd::grad(outputs, wanted, output_gradients, std::nullopt, false, true);
  for (size_t n = 0; n < next.entries.size(); n++) next.entries[n].tensor = std::move(gradients[n]);
  stream_gradient_[i.micro_batch] = std::move(next);
  auto& mine = block_gradients_[{i.block, i.micro_batch}];
  for (size_t n = 0; n < trained.size(); n++) {
    auto& gradient = gradients[gradients.size() - trained.size() + n];
    if (!gradient.defined())
      gradient = at::empty(wanted[wanted.size() - trained.size() + n].sizes(), wanted.back().options().requires_grad(false)).zero_();
    mine.push_back({trained[n], retag(gradient.contiguous(), Category::gradients, environment_.info(trained[n]).name)});
  }
}

void Executor::reduce(const Instruction& i) {
  const bool last = i.micro_batch + 1 == static_cast<int>(inputs_->micro_batches.size());
  const bool stream = last && !inputs_->deferred_update && environment_.layout->replicas() == 1;
  const Key key{i.block, i.micro_batch};
  reductions_[key] = gradients_->start_reduce(i.block, block_gradients_.at(key), i.micro_batch == 0, stream ? &inputs_->scalars : nullptr);
}

}  // namespace scantling
