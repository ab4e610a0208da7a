#include "scantling/layout/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "scantling/layout/pattern.h"
#include "scantling/layout/wrap.h"

namespace scantling {
namespace {

std::vector<Rank> first_ranks(int count) {
  std::vector<Rank> ranks(static_cast<size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// Each shard's rows dealt out over the replicas, in batch-rank order.
std::vector<Interval> deal_gradient(const Split& split, int replicas) {
  std::vector<Interval> parts(split.sizes.size() * static_cast<size_t>(replicas));
  int64_t begin = 0;
  for (size_t shard = 0; shard < split.sizes.size(); shard++) {
    const auto pieces = even_split(split.sizes[shard], first_ranks(replicas));
    for (size_t replica = 0; replica < pieces.sizes.size(); replica++) {
      parts[replica * split.sizes.size() + shard] = {begin, begin + pieces.sizes[replica]};
      begin += pieces.sizes[replica];
    }
  }
  return parts;
}

std::vector<bool> trainable_of(const ModelDescription& model, const LayoutOptions& options, Faults& faults) {
  std::vector<std::string> names;
  for (const auto& parameter : model.parameters) names.push_back(parameter.name);
  std::vector<bool> trainable(names.size(), options.trainable.empty());
  auto mark = [&](const std::vector<std::string>& patterns, const char* key, bool value) {
    const auto matches = apply_patterns(patterns, names, key, faults);
    for (const auto& matched : matches)
      for (const size_t index : matched) trainable[index] = value;
  };
  mark(options.trainable, "layout.trainable", true);
  mark(options.freeze, "layout.freeze", false);
  return trainable;
}

}  // namespace

int64_t row_elements(const ParameterInfo& parameter) { return parameter.count() == 0 ? 0 : parameter.count() / rows_of(parameter); }

int64_t rows_of(const ParameterInfo& parameter) { return parameter.shape.empty() ? 1 : parameter.shape[0]; }

Interval Layout::stored_rows(int parameter, Rank rank) const {
  const auto& placement = parameters[static_cast<size_t>(parameter)];
  return placement.split.interval_of(mesh.coordinate(rank, "shard"));
}

Interval Layout::gradient_rows(int parameter, Rank rank) const {
  const auto batch_rank = mesh.coordinate(rank, "data") * shards() + mesh.coordinate(rank, "shard");
  return parameters[static_cast<size_t>(parameter)].gradient_parts[static_cast<size_t>(batch_rank)];
}

Layout resolve_layout(const ModelDescription& model, const LayoutOptions& options, const DeviceOptions& devices) {
  Faults faults;
  options.validate(devices, faults);
  Layout layout{
      options,
      devices,
      Mesh({{"stage", options.mesh.stage}, {"data", options.mesh.data}, {"shard", options.mesh.shard}, {"tensor", options.mesh.tensor}}),
      {},
      {},
      {}};
  layout.units = wrap_units(model, options.wrap, faults);
  const auto trainable = trainable_of(model, options, faults);
  faults.throw_if_any();
  layout.parameters.resize(model.parameters.size());
  layout.units_of_block.resize(model.blocks.size());
  for (size_t u = 0; u < layout.units.size(); u++) {
    for (const int index : layout.units[u].parameters) {
      const auto& parameter = model.parameters[static_cast<size_t>(index)];
      auto& placement = layout.parameters[static_cast<size_t>(index)];
      placement.unit = static_cast<int>(u);
      placement.trainable = trainable[static_cast<size_t>(index)];
      placement.rule = "even over shard";
      placement.split = even_split(rows_of(parameter), first_ranks(layout.shards()));
      placement.gradient_parts = deal_gradient(placement.split, layout.replicas());
      for (const int block : parameter.blocks) {
        auto& units = layout.units_of_block[static_cast<size_t>(block)];
        if (std::find(units.begin(), units.end(), static_cast<int>(u)) == units.end()) units.push_back(static_cast<int>(u));
      }
    }
  }
  for (auto& units : layout.units_of_block) std::sort(units.begin(), units.end());
  return layout;
}

}  // namespace scantling
