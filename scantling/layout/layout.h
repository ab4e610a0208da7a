// Where everything lives: a model's parameter table and a run file's `layout` section made into units, splits and groups. Pure integers;
// the same on every rank. Placement is one type (Split); what is whole on every rank is a split with one owner per replica of size one.
#pragma once

#include <string>
#include <vector>

#include "scantling/layout/options.h"
#include "scantling/mesh/mesh.h"
#include "scantling/mesh/split.h"
#include "scantling/models/description/description.h"

namespace scantling {

// Parameters that are gathered and released together.
struct Unit {
  std::string name;             // path of the module it wraps, or "rest"
  std::vector<int> parameters;  // indices in the table, ascending
};

struct ParameterPlacement {
  int unit = 0;
  bool trainable = true;
  std::string rule;  // why it lies where it does, for `explain`
  // Parts of the storage by coordinate on the `shard` axis, cut along dim 0 (ranks 0, 1, ... of the split are those coordinates).
  Split split;
  // Parts of the reduced gradient by batch rank (data-major, then shard): each shard's part is dealt out over the
  // `data` axis. Rows of dim 0.
  std::vector<Interval> gradient_parts;
};

struct Layout {
  LayoutOptions options;
  DeviceOptions devices;
  Mesh mesh;
  std::vector<Unit> units;
  std::vector<ParameterPlacement> parameters;    // by index in the table
  std::vector<std::vector<int>> units_of_block;  // units whose parameters the block uses, ascending

  std::vector<Rank> shard_group(Rank rank) const { return mesh.group(rank, "shard"); }
  std::vector<Rank> data_group(Rank rank) const { return mesh.group(rank, "data"); }
  std::vector<Rank> batch_group(Rank rank) const { return mesh.group(rank, {"data", "shard"}); }
  int shards() const { return mesh.size("shard"); }
  int replicas() const { return mesh.size("data"); }
  int batch_ranks() const { return shards() * replicas(); }

  // The rank's own interval of the parameter's dim 0, and the number of elements in one row of it.
  Interval stored_rows(int parameter, Rank rank) const;
  Interval gradient_rows(int parameter, Rank rank) const;
};

// Elements of one index of dim 0 (1 for a vector). A scalar counts as one row of one element.
int64_t row_elements(const ParameterInfo& parameter);
int64_t rows_of(const ParameterInfo& parameter);

// Throws ConfigError with every fault: patterns and class names that match nothing, meshes that do not multiply up.
Layout resolve_layout(const ModelDescription& model, const LayoutOptions& options, const DeviceOptions& devices);

}  // namespace scantling
