// What a layout needs in memory: each rank's real program run on meta tensors with a ledger that counts. There is no second set of
// formulas, so the peak of a plan and of its run are equal to the byte. Ranks whose parts are alike are priced once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scantling/comm/recording_communicator.h"
#include "scantling/layout/layout.h"
#include "scantling/memory/ledger.h"
#include "scantling/models/model.h"
#include "scantling/optim/options.h"

namespace scantling {

struct StepShape {
  int64_t rows = 1;             // of a micro-batch
  int64_t length = 1;           // tokens of a row
  int micro_batches = 1;        // accumulation
  int64_t evaluation_rows = 0;  // 0: no evaluation
  int threads = 1;              // that a device's kernels use; their scratch grows with it
};

struct RankPrice {
  Rank rank = 0;
  MemoryPeak peak;
  CategoryBytes category_peaks{};
  int64_t workspace_bytes = 0;                           // the reservation the run must make
  std::string instruction;                               // at the peak
  std::vector<std::pair<std::string, int64_t>> tensors;  // held at the peak, largest first
  int64_t bytes_received = 0;                            // from other ranks in one step
};

struct Price {
  std::vector<RankPrice> ranks;  // one per rank
  int64_t largest_peak() const;
  bool fits(int64_t budget_bytes) const { return budget_bytes == 0 || largest_peak() <= budget_bytes; }
};

// `optimizer` null: evaluation only.
Price price(const Model& model, const Layout& layout, const StepShape& shape, const OptimizerOptions* optimizer);

// Whether updates wait for the norm of the whole gradient.
bool defers_update(const OptimizerOptions& optimizer);

}  // namespace scantling
