#include "scantling/runtime/rank_environment.h"

namespace scantling {

RankEnvironment::RankEnvironment(const Model& the_model, const Layout& the_layout, Ledger& the_ledger, Communicator& the_world,
                                 bool is_real)
    : model(&the_model), layout(&the_layout), rank(the_world.rank()), ledger(&the_ledger), world(&the_world), real(is_real) {
  shard = world->subgroup(layout->shard_group(rank));
  data = world->subgroup(layout->data_group(rank));
  batch = world->subgroup(layout->batch_group(rank));
}

}  // namespace scantling
