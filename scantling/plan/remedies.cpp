#include "scantling/plan/remedies.h"

#include <fmt/format.h>

#include <algorithm>

namespace scantling {
namespace {

class Search {
 public:
  explicit Search(const PricedRun& run) : run_(run), peak_(peak_of(run)) {}

  // Keeps the change if it lowers the peak.
  bool consider(const PricedRun& changed, const std::string& change) {
    const int64_t peak = peak_of(changed);
    if (peak >= peak_) return false;
    const bool fits = run_.devices.memory_bytes == 0 || peak <= run_.devices.memory_bytes;
    remedies_.push_back({change, peak, fits});
    return fits;
  }

  // The smallest power of two more shards with which it fits.
  void more_shards(PricedRun run, const std::string& with) {
    for (int factor = 2; factor <= 64; factor *= 2) {
      run.devices.count = run_.devices.count * factor;
      run.layout.mesh.shard = run_.layout.mesh.shard * factor;
      const auto change = fmt::format("devices.count={} layout.mesh.shard={}{}", run.devices.count, run.layout.mesh.shard, with);
      if (peak_of(run) <= run_.devices.memory_bytes) {
        consider(run, change);
        return;
      }
    }
  }

  std::vector<Remedy> take() { return std::move(remedies_); }

 private:
  static int64_t peak_of(const PricedRun& run) {
    const auto layout = resolve_layout(run.model->description, run.layout, run.devices);
    return price(*run.model, layout, run.shape, &run.optimizer).largest_peak();
  }

  const PricedRun& run_;
  int64_t peak_;
  std::vector<Remedy> remedies_;
};

}  // namespace

std::vector<Remedy> find_remedies(const PricedRun& run) {
  Search search(run);
  auto changed = run;
  if (run.layout.recompute == Recompute::none) {
    changed.layout.recompute = Recompute::block;
    search.consider(changed, "layout.recompute=block");
  }
  if (run.layout.prefetch > 0) {
    changed = run;
    changed.layout.prefetch = 0;
    search.consider(changed, "layout.prefetch=0");
  }
  if (run.layout.precision.compute == DType::float32) {
    changed = run;
    changed.layout.precision.compute = DType::bfloat16;
    search.consider(changed, "layout.precision.compute=bfloat16");
  }
  if (run.shape.rows > 1) {
    changed = run;
    changed.shape.rows = 1;
    changed.shape.micro_batches = static_cast<int>(run.shape.micro_batches * run.shape.rows);
    search.consider(changed,
                    fmt::format("train.per_device_train_batch_size=1 train.gradient_accumulation_steps={}", changed.shape.micro_batches));
  }
  if (run.shape.length > 64) {
    changed = run;
    changed.shape.length = run.shape.length / 2;
    search.consider(changed, fmt::format("data.max_length={}", changed.shape.length));
  }
  search.more_shards(run, "");
  changed = run;
  changed.layout.recompute = Recompute::block;
  if (run.layout.recompute == Recompute::none) search.more_shards(changed, " layout.recompute=block");
  auto remedies = search.take();
  std::stable_partition(remedies.begin(), remedies.end(), [](const Remedy& remedy) { return remedy.fits; });
  return remedies;
}

}  // namespace scantling
