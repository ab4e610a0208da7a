#include "scantling/train/run_log.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "scantling/core/bytes.h"
#include "scantling/core/text.h"
#include "scantling/report/table.h"

namespace scantling {
namespace {

using nlohmann::ordered_json;
using std::chrono::steady_clock;

double seconds_between(steady_clock::time_point from, steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

ordered_json devices_json(const std::vector<DeviceUse>& devices) {
  auto list = ordered_json::array();
  for (const auto& device : devices)
    list.push_back({{"rank", device.rank}, {"current_bytes", device.current_bytes}, {"peak_bytes", device.peak_bytes}});
  return list;
}

}  // namespace

double seconds_since_process_start() {
  std::ifstream stat("/proc/self/stat"), uptime("/proc/uptime");
  std::string line;
  std::getline(stat, line);
  std::istringstream fields(line.substr(line.rfind(')') + 2));
  std::string field;
  for (int i = 0; i < 20; i++) fields >> field;  // field 22 of proc(5): start time in clock ticks
  double now = 0;
  uptime >> now;
  return now - std::stod(field) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int64_t process_peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

RunLog::RunLog(const Job& job, int64_t total_steps)
    : job_(job),
      total_steps_(total_steps),
      metrics_(std::filesystem::path(job.options.train.output_dir) / "metrics.jsonl", 0),
      events_(job.options.train.output_dir, 1),
      progress_(stderr),
      last_(steady_clock::now()),
      begin_(last_) {}

void RunLog::first_forward() { first_forward_seconds_ = seconds_since_process_start(); }

void RunLog::step(const StepReport& report) {
  const auto now = steady_clock::now();
  const double seconds = seconds_between(last_, now);
  last_ = now;
  if (report.step == 1) {
    first_step_seconds_ = seconds_since_process_start();
    tokens_of_first_ = report.tokens;
  } else {
    seconds_after_first_ += seconds;
    tokens_after_first_ += report.tokens;
  }
  const double rate = static_cast<double>(report.tokens) / seconds;
  rate_ = report.step <= 2 ? rate : 0.8 * rate_ + 0.2 * rate;
  if (report.step % job_.options.train.logging_steps != 0 && report.step != total_steps_) return;
  metrics_.append({{"step", report.step},
                   {"loss", report.loss},
                   {"grad_norm", report.grad_norm},
                   {"learning_rate", report.learning_rate},
                   {"tokens_per_second", rate},
                   {"devices", devices_json(report.devices)}});
  events_.scalar("train/loss", report.loss, report.step);
  events_.scalar("train/grad_norm", report.grad_norm, report.step);
  events_.scalar("train/learning_rate", report.learning_rate, report.step);
  events_.scalar("train/tokens_per_second", rate, report.step);
  events_.flush();
  ProgressState state{report.step, total_steps_, report.loss, report.learning_rate, report.grad_norm, rate, -1, {}};
  const double per_step = report.step > 1 ? seconds_after_first_ / static_cast<double>(report.step - 1) : seconds;
  state.seconds_left = per_step * static_cast<double>(total_steps_ - report.step);
  for (const auto& device : report.devices)
    state.devices.push_back({device.rank, device.current_bytes, device.peak_bytes, job_.options.devices.memory_bytes});
  progress_.show(state);
}

void RunLog::evaluation(int64_t step, double loss) {
  metrics_.append({{"step", step}, {"eval_loss", loss}});
  events_.scalar("eval/loss", loss, step);
  events_.flush();
  progress_.finish();
  fmt::print(stderr, "evaluation at step {}: loss {:.4f}, perplexity {:.2f}\n", step, loss, std::exp(loss));
  last_ = steady_clock::now();
}

void RunLog::finish(RunSummary& summary, const Price& price) {
  progress_.finish();
  summary.first_forward_seconds = first_forward_seconds_;
  summary.first_step_seconds = first_step_seconds_;
  summary.process_peak_rss_bytes = process_peak_rss_bytes();
  summary.tokens_per_second = tokens_after_first_ > 0 ? static_cast<double>(tokens_after_first_) / seconds_after_first_
                                                      : static_cast<double>(tokens_of_first_) / seconds_between(begin_, last_);
  ordered_json json{{"steps", summary.steps},
                    {"final_loss", summary.final_loss},
                    {"tokens_per_second", summary.tokens_per_second},
                    {"first_forward_seconds", summary.first_forward_seconds},
                    {"first_step_seconds", summary.first_step_seconds},
                    {"process_peak_rss_bytes", summary.process_peak_rss_bytes},
                    {"skipped_steps", summary.skipped_steps}};
  if (summary.eval_loss_before) json["eval_loss_before"] = *summary.eval_loss_before;
  if (summary.eval_loss_after) json["eval_loss_after"] = *summary.eval_loss_after;
  auto devices = ordered_json::array();
  for (const auto& device : summary.devices) {
    ordered_json categories;
    for (int c = 0; c < num_categories; c++)
      categories[std::string(name_of(static_cast<Category>(c)))] = device.categories[static_cast<size_t>(c)];
    devices.push_back({{"rank", device.rank},
                       {"planned_peak_bytes", price.ranks[static_cast<size_t>(device.rank)].peak.bytes},
                       {"measured_peak_bytes", device.peak_bytes},
                       {"categories", categories}});
  }
  json["devices"] = devices;
  write_json_file(std::filesystem::path(job_.options.train.output_dir) / "summary.json", json);
}

std::string memory_table(const Price& price, const std::vector<DeviceUse>& devices, int64_t budget_bytes) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& device : devices) {
    const auto& planned = price.ranks[static_cast<size_t>(device.rank)].peak;
    rows.push_back({std::to_string(device.rank), with_commas(planned.bytes), with_commas(device.peak_bytes),
                    with_commas(device.peak_bytes - planned.bytes), budget_bytes > 0 ? format_bytes(budget_bytes) : "-",
                    budget_bytes > 0
                        ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(device.peak_bytes) / static_cast<double>(budget_bytes))
                        : "-"});
  }
  return render_table({"device", "planned peak", "measured peak", "difference", "budget", "used"}, rows);
}

}  // namespace scantling
