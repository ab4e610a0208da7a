// What one virtual device holds, to the byte. A ledger belongs to one rank and is changed only by that rank's thread, at one of its
// instructions; so the ledger of a run and the ledger of a priced program can be compared entry by entry.
// Requested bytes are counted, never rounded ones.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace scantling {

enum class Category : uint8_t { parameters, gradients, optimizer, gathered, activations, communication, workspace, data };
inline constexpr int num_categories = 8;
std::string_view name_of(Category category);

using CategoryBytes = std::array<int64_t, num_categories>;

struct MemoryPeak {
  int64_t bytes = 0;
  CategoryBytes categories{};  // at the moment of the peak; they sum to `bytes`
  int instruction = -1;        // index in the rank's program; -1: while setting up
  std::string tensor;          // whose charge made the peak
};

class Ledger {
 public:
  // `budget_bytes` 0: no limit. When it would be passed, charge throws OutOfDeviceMemory and changes nothing.
  explicit Ledger(int rank, int64_t budget_bytes = 0) : rank_(rank), budget_bytes_(budget_bytes) {}

  void charge(Category category, int64_t bytes, std::string_view tensor);
  void credit(Category category, int64_t bytes, std::string_view tensor);
  void set_instruction(int index) { instruction_ = index; }
  // Turns an instruction index into text for messages.
  void set_describer(std::function<std::string(int)> describe) { describe_ = std::move(describe); }

  int rank() const { return rank_; }
  int64_t budget_bytes() const { return budget_bytes_; }
  int64_t current_bytes() const { return total_; }
  const CategoryBytes& current() const { return current_; }
  const MemoryPeak& peak() const { return peak_; }
  const CategoryBytes& category_peaks() const { return category_peaks_; }

  // Scratch memory of running kernels is held against a reservation, not against the ledger (see scope.h).
  void reserve_workspace(int64_t bytes);  // charges `workspace` once
  void scratch(int64_t delta_bytes);      // check: never above the reservation
  int64_t scratch_peak_bytes() const { return scratch_peak_; }
  // Planning: collects the largest reservation any operation asks for instead of checking one.
  void want_workspace(int64_t bytes) { wanted_workspace_ = bytes > wanted_workspace_ ? bytes : wanted_workspace_; }
  int64_t wanted_workspace_bytes() const { return wanted_workspace_; }

  // Planning: remembers every change, so that the tensors at the peak and the curve over the program can be told.
  struct Event {
    int instruction;
    Category category;
    int64_t delta_bytes;
    std::string tensor;
  };
  void keep_events() { keeps_events_ = true; }
  const std::vector<Event>& events() const { return events_; }
  // (tensor, bytes) held at the peak, largest first; needs keep_events.
  std::vector<std::pair<std::string, int64_t>> tensors_at_peak() const;

 private:
  void remember(Category category, int64_t delta_bytes, std::string_view tensor);

  int rank_;
  int64_t budget_bytes_;
  int instruction_ = -1;
  int64_t total_ = 0;
  CategoryBytes current_{};
  CategoryBytes category_peaks_{};
  MemoryPeak peak_;
  size_t events_at_peak_ = 0;
  int64_t workspace_reserved_ = 0, scratch_now_ = 0, scratch_peak_ = 0, wanted_workspace_ = 0;
  bool keeps_events_ = false;
  std::vector<Event> events_;
  std::function<std::string(int)> describe_;
};

}  // namespace scantling
