// One line that says how a run goes: step, loss, learning rate, gradient norm, speed, time left, and every device's memory against
// its budget. On a terminal it is rewritten in place and kept within the width; elsewhere each call writes one full line, without
// control characters.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace scantling {

struct DeviceMemory {
  int rank = 0;
  int64_t current_bytes = 0;
  int64_t peak_bytes = 0;
  int64_t budget_bytes = 0;  // 0: none
};

struct ProgressState {
  int64_t step = 0;
  int64_t total_steps = 0;
  double loss = 0;
  double learning_rate = 0;
  double gradient_norm = 0;
  double tokens_per_second = 0;
  double seconds_left = -1;  // negative: not known yet
  std::vector<DeviceMemory> devices;
};

// "step 3/20  loss 2.3451  lr 2.00e-04  norm 1.234  1,234 tok/s  0:12 left  mem 0: 612M/1.0G (now 300M)  1: ...". More than 8
// devices, or more than fit, are summed up as "mem of 16: 500M..612M/1.0G (now 200M..300M)". At most `width` characters; 0: no limit.
std::string progress_line(const ProgressState& state, size_t width);

class Progress {
 public:
  // `out` stays open and the caller's. It is treated as a terminal if it is one.
  explicit Progress(std::FILE* out);
  void show(const ProgressState& state);
  // Leaves the last line standing; what follows starts on a line of its own.
  void finish();

 private:
  std::FILE* out_;
  bool terminal_;
  bool line_open_ = false;
};

}  // namespace scantling
