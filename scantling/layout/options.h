// What the `devices` and `layout` sections of a run file say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scantling/core/dtype.h"
#include "scantling/core/error.h"

namespace scantling {

struct DeviceOptions {
  static constexpr int most = 65'536;  // devices of a run
  std::string kind = "cpu";
  int count = 1;
  int64_t memory_bytes = 0;  // budget of each device; 0: unlimited
  int cores = 0;             // virtual devices that compute at once; 0: the machine's cores
  void validate(Faults& faults) const;
};

// Sizes of the mesh's axes; an axis left out is 1. A mesh left out altogether is `shard: devices.count` (set by the run file).
struct MeshOptions {
  int stage = 1;
  int data = 1;
  int shard = 1;
  int tensor = 1;
};

// The unit of gathering: the model's own blocks (both empty), layer classes by name, or modules of at least `min_parameters`.
struct WrapOptions {
  std::vector<std::string> classes;
  int64_t min_parameters = 0;
};

struct PrecisionOptions {
  DType compute = DType::float32;  // float32 or bfloat16; master weights, reductions and optimizer state are float32
};

enum class Recompute : uint8_t { none, block };
enum class GatherMode : uint8_t { shared, private_copy };  // run file: shared | private

struct LayoutOptions {
  MeshOptions mesh;
  WrapOptions wrap;
  std::vector<std::string> freeze;     // patterns; these parameters are not trained
  std::vector<std::string> trainable;  // patterns; when given, everything else is frozen
  Recompute recompute = Recompute::none;
  GatherMode gather = GatherMode::shared;
  int prefetch = 1;  // units gathered ahead of their use; 0: none
  PrecisionOptions precision;
  void validate(const DeviceOptions& devices, Faults& faults) const;
};

}  // namespace scantling
