#include "scantling/plan/remedies.h"

#include <fmt/format.h>

#include <algorithm>

namespace scantling {
namespace {

constexpr int most_devices = 4096;  // that are proposed; more take long to price

class Search {
 public:
  explicit Search(const PricedRun& run) : run_(run), peak_(peak_of(run)) {}

  // Keeps the change if it lowers the peak.
  void consider(const PricedRun& changed, const std::string& change) { keep(peak_of(changed), change); }

  // The smallest power of two more shards with which it fits.
  void more_shards(PricedRun run, const std::string& with) {
    for (int factor = 2; factor <= 64 && run_.devices.count <= most_devices / factor; factor *= 2) {
      run.devices.count = run_.devices.count * factor;
      run.layout.mesh.shard = run_.layout.mesh.shard * factor;
      const int64_t peak = peak_of(run);
      if (peak > run_.devices.memory_bytes) continue;
      return keep(peak, fmt::format("devices.count={} layout.mesh.shard={}{}", run.devices.count, run.layout.mesh.shard, with));
    }
  }

  std::vector<Remedy> take() { return std::move(remedies_); }

 private:
  static int64_t peak_of(const PricedRun& run) {
    const auto layout = resolve_layout(run.model->description, run.layout, run.devices);
    return price(*run.model, layout, run.shape, run.training ? &run.optimizer : nullptr).largest_peak();
  }

  void keep(int64_t peak, const std::string& change) {
    if (peak < peak_) remedies_.push_back({change, peak, run_.devices.memory_bytes == 0 || peak <= run_.devices.memory_bytes});
  }

  const PricedRun& run_;
  int64_t peak_;
  std::vector<Remedy> remedies_;
};

// Fewer rows at a time, with as many in a step.
void consider_rows(Search& search, PricedRun run) {
  if (run.training && run.shape.rows > 1) {
    run.shape.micro_batches *= static_cast<int>(run.shape.rows);
    run.shape.rows = 1;
    search.consider(run, fmt::format("train.per_device_train_batch_size=1 train.gradient_accumulation_steps={}", run.shape.micro_batches));
  } else if (run.shape.evaluation_rows > 1) {
    run.shape.evaluation_rows = 1;
    search.consider(run, "train.per_device_eval_batch_size=1");
  }
}

}  // namespace

std::vector<Remedy> find_remedies(const PricedRun& run) {
  Search search(run);
  const auto with = [&](auto change) {
    PricedRun changed = run;
    change(changed);
    return changed;
  };
  const auto recomputed = with([](PricedRun& changed) { changed.layout.recompute = Recompute::block; });
  if (run.layout.recompute == Recompute::none) search.consider(recomputed, "layout.recompute=block");
  if (run.layout.prefetch > 0) search.consider(with([](PricedRun& changed) { changed.layout.prefetch = 0; }), "layout.prefetch=0");
  if (run.layout.precision.compute == DType::float32)
    search.consider(with([](PricedRun& changed) { changed.layout.precision.compute = DType::bfloat16; }),
                    "layout.precision.compute=bfloat16");
  consider_rows(search, run);
  if (run.shape.length > 64)
    search.consider(with([](PricedRun& changed) { changed.shape.length /= 2; }), fmt::format("data.max_length={}", run.shape.length / 2));
  search.more_shards(run, "");
  if (run.layout.recompute == Recompute::none) search.more_shards(recomputed, " layout.recompute=block");
  auto remedies = search.take();
  std::stable_partition(remedies.begin(), remedies.end(), [](const Remedy& remedy) { return remedy.fits; });
  return remedies;
}

}  // namespace scantling
