// The layouts whose plans are compared with their runs, as flags on top of the short run of tests/support/training.h.
#pragma once

#include <vector>

#include "tests/support/training.h"

namespace scantling::test {

inline std::vector<Flags> planned_layouts() {
  std::vector<Flags> meshes{mesh(1, 1), mesh(1, 4), mesh(3, 1), mesh(2, 2), mesh(1, 7)};
  const std::vector<Flags> variants{
      {},
      {"--layout.recompute=block"},
      {"--layout.prefetch=0", "--train.gradient_accumulation_steps=3"},
      {"--layout.prefetch=3", "--layout.gather=private", "--train.per_device_train_batch_size=2"},
      {"--layout.precision.compute=bfloat16"},
      {"--layout.precision.compute=bfloat16", "--layout.recompute=block", "--layout.gather=private", "--data.max_length=40"},
      {"--train.optim=sgd", "--train.max_grad_norm=0", "--train.nonfinite=stop"},
      {"--train.optim=sgd", "--train.momentum=0.9", "--train.gradient_accumulation_steps=2"},
      {"--train.max_grad_norm=0", "--train.nonfinite=stop", "--train.gradient_accumulation_steps=2", "--layout.prefetch=2"},
      {"--layout.freeze=[\"model.embed_tokens.*\", \"model.layers.0.*\"]"},
      {"--layout.trainable=[\"*norm*\"]", "--layout.recompute=block", "--train.per_device_train_batch_size=3"},
      {"--layout.wrap=[LlamaAttention, LlamaMLP]", "--layout.prefetch=1"},
      {"--layout.wrap.min_parameters=5000", "--layout.prefetch=0", "--layout.gather=private"},
      {"EVAL", "--train.per_device_eval_batch_size=5"},
  };
  std::vector<Flags> layouts;
  for (const auto& variant : variants)
    for (const auto& devices : meshes) layouts.push_back(devices + variant);
  return layouts;
}

}  // namespace scantling::test
