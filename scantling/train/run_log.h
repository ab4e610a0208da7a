// What a run tells: the progress line, metrics.jsonl, TensorBoard events and the summary. Used by one rank.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "scantling/plan/price.h"
#include "scantling/report/metrics_log.h"
#include "scantling/report/progress.h"
#include "scantling/report/tensorboard.h"
#include "scantling/train/job.h"

namespace scantling {

struct DeviceUse {
  Rank rank = 0;
  int64_t current_bytes = 0;
  int64_t peak_bytes = 0;
  CategoryBytes categories{};  // at the peak
};

struct StepReport {
  int64_t step = 0;
  double loss = 0;  // mean per label token
  double grad_norm = 0;
  double learning_rate = 0;
  int64_t tokens = 0;  // of the step, padding not counted
  std::vector<DeviceUse> devices;
};

struct RunSummary {
  int64_t steps = 0;
  double final_loss = 0;
  double tokens_per_second = 0;      // over the whole run, the first step left out when there are more
  double first_forward_seconds = 0;  // from process start to the first forward
  double first_step_seconds = 0;     // from process start to the end of the first step
  int64_t process_peak_rss_bytes = 0;
  int64_t skipped_steps = 0;
  std::optional<double> eval_loss_before, eval_loss_after;
  std::vector<DeviceUse> devices;
};

class RunLog {
 public:
  RunLog(const Job& job, int64_t total_steps);

  void first_forward();  // about to happen
  void step(const StepReport& report);
  void evaluation(int64_t step, double loss);
  // Ends the progress line and writes summary.json.
  void finish(RunSummary& summary, const Price& price);

 private:
  const Job& job_;
  int64_t total_steps_;
  MetricsLog metrics_;
  TensorBoardWriter events_;
  Progress progress_;
  std::chrono::steady_clock::time_point last_, begin_;
  double first_forward_seconds_ = 0, first_step_seconds_ = 0;
  double seconds_after_first_ = 0;
  int64_t tokens_after_first_ = 0, tokens_of_first_ = 0;
  double rate_ = 0;  // smoothed tokens per second
};

// Seconds since this process was started, as the system counts them.
double seconds_since_process_start();
int64_t process_peak_rss_bytes();

// The table of planned against measured peaks.
std::string memory_table(const Price& price, const std::vector<DeviceUse>& devices, int64_t budget_bytes);

}  // namespace scantling
