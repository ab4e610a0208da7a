// What to change when a layout does not fit. Each remedy is priced like the layout itself, and only those that help are told.
#pragma once

#include <string>
#include <vector>

#include "scantling/plan/price.h"

namespace scantling {

struct PricedRun {
  const Model* model;
  LayoutOptions layout;
  DeviceOptions devices;
  StepShape shape;
  OptimizerOptions optimizer;
  bool training = true;  // false: evaluation only
};

struct Remedy {
  std::string change;      // as run-file keys: "layout.recompute=block"
  int64_t peak_bytes = 0;  // of the largest device with it
  bool fits = false;
};

// Cheapest first: single changes that leave the number of devices alone, then those with more devices, then both together.
std::vector<Remedy> find_remedies(const PricedRun& run);

}  // namespace scantling
