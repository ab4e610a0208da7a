#include "scantling/memory/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scantling/core/bytes.h"
#include "scantling/core/error.h"

namespace scantling {

std::string_view name_of(Category category) {
  static constexpr std::string_view names[num_categories] = {"parameters",  "gradients",     "optimizer", "gathered",
                                                             "activations", "communication", "workspace", "data"};
  return names[static_cast<int>(category)];
}

void Ledger::charge(Category category, int64_t bytes, std::string_view tensor) {
  if (budget_bytes_ > 0 && total_ + bytes > budget_bytes_) {
    const auto place = instruction_ >= 0 && describe_ ? describe_(instruction_) : std::string("set-up");
    throw OutOfDeviceMemory(fmt::format(
        "Rank {}, {}: {} for {} ({}) does not fit. The device holds {} of its budget of {}; {} more would be needed. Use more shards, "
        "recompute: block, a smaller per_device_train_batch_size or max_length, or a larger devices.memory.",
        rank_, place, format_bytes(bytes), tensor, name_of(category), format_bytes(total_), format_bytes(budget_bytes_),
        format_bytes(total_ + bytes - budget_bytes_)));
  }
  const auto slot = static_cast<size_t>(category);
  total_ += bytes;
  current_[slot] += bytes;
  category_peaks_[slot] = std::max(category_peaks_[slot], current_[slot]);
  if (keeps_events_) remember(category, bytes, tensor);
  if (total_ > peak_.bytes) {
    peak_.bytes = total_;
    peak_.categories = current_;
    peak_.instruction = instruction_;
    peak_.tensor = tensor;
    events_at_peak_ = events_.size();
  }
}

void Ledger::credit(Category category, int64_t bytes, std::string_view tensor) {
  const auto slot = static_cast<size_t>(category);
  total_ -= bytes;
  current_[slot] -= bytes;
  if (keeps_events_) remember(category, -bytes, tensor);
}

void Ledger::remember(Category category, int64_t delta_bytes, std::string_view tensor) {
  events_.push_back({instruction_, category, delta_bytes, std::string(tensor)});
}

void Ledger::reserve_workspace(int64_t bytes) {
  charge(Category::workspace, bytes - workspace_reserved_, "kernel scratch");
  workspace_reserved_ = bytes;
}

void Ledger::scratch(int64_t delta_bytes) {
  scratch_now_ += delta_bytes;
  scratch_peak_ = std::max(scratch_peak_, scratch_now_);
  if (scratch_now_ > workspace_reserved_) {
    check(false,
          fmt::format("rank {}, {}: kernels use {} bytes of scratch, {} are reserved", rank_,
                      instruction_ >= 0 && describe_ ? describe_(instruction_) : std::string("set-up"), scratch_now_, workspace_reserved_));
  }
}

std::vector<std::pair<std::string, int64_t>> Ledger::tensors_at_peak() const {
  std::map<std::string, int64_t> held;
  for (size_t i = 0; i < events_at_peak_; i++) held[events_[i].tensor] += events_[i].delta_bytes;
  std::vector<std::pair<std::string, int64_t>> tensors;
  for (const auto& [tensor, bytes] : held)
    if (bytes != 0) tensors.emplace_back(tensor, bytes);
  std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return tensors;
}

}  // namespace scantling
