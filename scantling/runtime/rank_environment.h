// What one rank is made of: its number, its ledger and the groups it talks to. `real` false is the planner's rank: meta tensors, a
// recording communicator, no data.
#pragma once

#include <memory>

#include "scantling/comm/communicator.h"
#include "scantling/layout/layout.h"
#include "scantling/memory/ledger.h"
#include "scantling/models/model.h"

namespace scantling {

struct RankEnvironment {
  const Model* model = nullptr;
  const Layout* layout = nullptr;
  Rank rank = 0;
  Ledger* ledger = nullptr;       // not owned
  Communicator* world = nullptr;  // not owned
  bool real = true;
  std::unique_ptr<Communicator> shard, data, batch;

  // Makes the groups out of `world`; all ranks must come here together.
  RankEnvironment(const Model& model, const Layout& layout, Ledger& ledger, Communicator& world, bool real);

  const ParameterInfo& info(int parameter) const { return model->description.parameters[static_cast<size_t>(parameter)]; }
  const ParameterPlacement& placement(int parameter) const { return layout->parameters[static_cast<size_t>(parameter)]; }
  int num_parameters() const { return static_cast<int>(layout->parameters.size()); }
  DType compute() const { return layout->options.precision.compute; }
};

}  // namespace scantling
