#include "scantling/runtime/optimizer_state.h"

#include "scantling/optim/adamw.h"
#include "scantling/optim/sgd.h"

namespace scantling {

OptimizerState::OptimizerState(const RankEnvironment& environment, ParameterStore& store, const OptimizerOptions& options)
    : environment_(environment), store_(store), options_(options) {
  const bool adamw = options.kind == OptimizerKind::adamw;
  for (int p = 0; p < environment.num_parameters(); p++) {
    const bool trained = environment.placement(p).trainable;
    const int64_t bytes = store.part(p).count * 4;
    auto state = [&](bool wanted) {
      return wanted ? Buffer(environment.ledger, Category::optimizer, environment.info(p).name, bytes, environment.real, true) : Buffer();
    };
    first_.push_back(state(trained && (adamw || options.momentum != 0)));
    second_.push_back(state(trained && adamw));
  }
}

void OptimizerState::update(int parameter, int64_t offset, const float* gradient, int64_t count, const UpdateScalars& scalars) {
  if (!environment_.real || count == 0) return;
  const auto index = static_cast<size_t>(parameter);
  const auto& part = store_.part(parameter);
  const bool decays = environment_.info(parameter).is_matrix();
  auto* first = static_cast<float*>(first_[index].data());
  auto* copy = part.copy ? part.copy + offset : nullptr;
  if (options_.kind == OptimizerKind::adamw) {
    const auto step = adamw_step(options_, scalars.learning_rate, scalars.number, decays, scalars.gradient_scale);
    adamw_update(part.master + offset, first + offset, static_cast<float*>(second_[index].data()) + offset, gradient, count, step, copy);
  } else {
    const SgdStep step{scalars.learning_rate, options_.momentum, decays ? options_.weight_decay : 0.0, scalars.gradient_scale};
    sgd_update(part.master + offset, first ? first + offset : nullptr, gradient, count, step, copy);
  }
}

}  // namespace scantling
