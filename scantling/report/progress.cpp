// The text is ASCII, so its size is its width. What matters least stands last and is cut off first on narrow terminals.
#include "scantling/report/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "scantling/core/text.h"

namespace scantling {
namespace {

constexpr size_t most_devices_one_by_one = 8;
constexpr size_t usual_width = 80;

// Four or five characters: "0", "512B", "1.0K", "612M", "1.5G".
std::string compact_bytes(int64_t bytes) {
  constexpr std::array<char, 6> units = {'B', 'K', 'M', 'G', 'T', 'P'};
  if (bytes == 0) return "0";
  auto amount = static_cast<double>(bytes);
  size_t unit = 0;
  for (; amount >= 999.5 && unit + 1 < units.size(); ++unit) amount /= 1024;
  return unit > 0 && amount < 9.95 ? fmt::format("{:.1f}{}", amount, units[unit]) : fmt::format("{:.0f}{}", amount, units[unit]);
}

std::string compact_time(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d{:02}h", whole / 86400, whole / 3600 % 24);
}

std::string memory_text(const std::string& peak, const std::string& budget, const std::string& current) {
  return fmt::format("{}{}{} (now {})", peak, budget.empty() ? "" : "/", budget, current);
}

std::string memory_one_by_one(const std::vector<DeviceMemory>& devices) {
  std::string text = "  mem";
  for (const DeviceMemory& device : devices) {
    const std::string budget = device.budget_bytes > 0 ? compact_bytes(device.budget_bytes) : "";
    text += fmt::format("{} {}: {}", &device == devices.data() ? "" : " ", device.rank,
                        memory_text(compact_bytes(device.peak_bytes), budget, compact_bytes(device.current_bytes)));
  }
  return text;
}

std::string range_of(const std::vector<DeviceMemory>& devices, int64_t DeviceMemory::*amount) {
  const auto [least, most] =
      std::minmax_element(devices.begin(), devices.end(), [amount](const auto& a, const auto& b) { return a.*amount < b.*amount; });
  const std::string low = compact_bytes((*least).*amount), high = compact_bytes((*most).*amount);
  return low == high ? low : low + ".." + high;
}

std::string memory_summed_up(const std::vector<DeviceMemory>& devices) {
  const bool has_budget = std::any_of(devices.begin(), devices.end(), [](const DeviceMemory& device) { return device.budget_bytes > 0; });
  const std::string budget = has_budget ? range_of(devices, &DeviceMemory::budget_bytes) : "";
  return fmt::format("  mem of {}: {}", devices.size(),
                     memory_text(range_of(devices, &DeviceMemory::peak_bytes), budget, range_of(devices, &DeviceMemory::current_bytes)));
}

size_t terminal_width(std::FILE* out) {
  winsize size{};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual_width;
}

}  // namespace

std::string progress_line(const ProgressState& state, size_t width) {
  std::string line = fmt::format("step {}/{}  loss {:.4f}  lr {:.2e}  norm {:.4g}  {} tok/s", state.step, state.total_steps, state.loss,
                                 state.learning_rate, state.gradient_norm, with_commas(std::llround(state.tokens_per_second)));
  if (state.seconds_left >= 0) line += fmt::format("  {} left", compact_time(state.seconds_left));
  if (!state.devices.empty()) {
    const std::string memory = memory_one_by_one(state.devices);
    const bool fits = state.devices.size() <= most_devices_one_by_one && (width == 0 || line.size() + memory.size() <= width);
    line += fits || state.devices.size() == 1 ? memory : memory_summed_up(state.devices);
  }
  if (width > 0 && line.size() > width) line.resize(width);
  return line;
}

Progress::Progress(std::FILE* out) : out_(out), terminal_(isatty(fileno(out)) == 1) {}

void Progress::show(const ProgressState& state) {
  if (terminal_) {
    // One column stays free: a full line would wrap on some terminals.
    fmt::print(out_, "\r{}\x1b[K", progress_line(state, std::max<size_t>(2, terminal_width(out_)) - 1));
    line_open_ = true;
  } else {
    fmt::print(out_, "{}\n", progress_line(state, 0));
  }
  std::fflush(out_);
}

void Progress::finish() {
  if (line_open_) fmt::print(out_, "\n");
  line_open_ = false;
  std::fflush(out_);
}

}  // namespace scantling
