#include "scantling/report/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

namespace scantling {
namespace {

constexpr int64_t mega = int64_t{1} << 20;

ProgressState state_of(int devices) {
  ProgressState state{.step = 3,
                      .total_steps = 20,
                      .loss = 2.34512,
                      .learning_rate = 2e-4,
                      .gradient_norm = 1.2345,
                      .tokens_per_second = 1234.4,
                      .seconds_left = 72};
  for (int rank = 0; rank < devices; ++rank) {
    state.devices.push_back(
        {.rank = rank, .current_bytes = (300 + rank) * mega, .peak_bytes = (612 - rank) * mega, .budget_bytes = 1024 * mega});
  }
  return state;
}

const std::string numbers = "step 3/20  loss 2.3451  lr 2.00e-04  norm 1.234  1,234 tok/s  1:12 left";

TEST(Progress, LineShowsEveryDeviceAgainstItsBudget) {
  EXPECT_EQ(progress_line(state_of(2), 0), numbers + "  mem 0: 612M/1.0G (now 300M)  1: 611M/1.0G (now 301M)");
  EXPECT_EQ(progress_line(state_of(0), 0), numbers);
}

TEST(Progress, ManyDevicesAreSummedUp) {
  EXPECT_EQ(progress_line(state_of(9), 0), numbers + "  mem of 9: 604M..612M/1.0G (now 300M..308M)");
  EXPECT_EQ(progress_line(state_of(4), 130), numbers + "  mem of 4: 609M..612M/1.0G (now 300M..303M)");
}

TEST(Progress, LineNeverExceedsTheWidth) {
  for (size_t width = 1; width < 200; ++width) EXPECT_LE(progress_line(state_of(3), width).size(), width);
  EXPECT_EQ(progress_line(state_of(3), 9), "step 3/20");
}

TEST(Progress, AmountsKeepTwoToThreeDigits) {
  ProgressState state = state_of(1);
  const auto memory = [&](int64_t peak) {
    state.devices[0] = {.peak_bytes = peak};
    const std::string line = progress_line(state, 0);
    return line.substr(line.find("mem 0: ") + 7);
  };
  EXPECT_EQ(memory(512), "512B (now 0)");
  EXPECT_EQ(memory(1024), "1.0K (now 0)");
  EXPECT_EQ(memory(1023 * mega), "1.0G (now 0)");
  EXPECT_EQ(memory(10 * mega), "10M (now 0)");
}

TEST(Progress, TimeLeftIsShortOrAbsent) {
  ProgressState state = state_of(0);
  const auto left = [&](double seconds) {
    state.seconds_left = seconds;
    const std::string line = progress_line(state, 0);
    return line.substr(line.find("tok/s") + 5);
  };
  EXPECT_EQ(left(-1), "");
  EXPECT_EQ(left(0), "  0:00 left");
  EXPECT_EQ(left(3599.5), "  1h00m left");
  EXPECT_EQ(left(90000), "  1d01h left");
}

TEST(Progress, FilesGetWholeLinesWithoutControlCharacters) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  Progress progress(file.get());
  progress.show(state_of(0));
  progress.show(state_of(0));
  progress.finish();
  std::rewind(file.get());
  std::array<char, 1000> text{};
  const size_t size = std::fread(text.data(), 1, text.size(), file.get());
  EXPECT_EQ(std::string(text.data(), size), numbers + "\n" + numbers + "\n");
}

TEST(Progress, TerminalLineIsRewrittenWithinItsWidth) {
  int master = -1, terminal = -1;
  winsize size{.ws_row = 5, .ws_col = 10, .ws_xpixel = 0, .ws_ypixel = 0};
  if (openpty(&master, &terminal, nullptr, nullptr, &size) != 0) GTEST_SKIP() << "no pseudo-terminal can be opened here";
  {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(fdopen(terminal, "w"), std::fclose);
    Progress progress(file.get());
    progress.show(state_of(2));
    progress.show(state_of(2));
    progress.finish();
    progress.finish();
    std::array<char, 1000> text{};
    const ssize_t length = read(master, text.data(), text.size());
    EXPECT_EQ(std::string(text.data(), static_cast<size_t>(std::max<ssize_t>(length, 0))), "\rstep 3/20\x1b[K\rstep 3/20\x1b[K\r\n");
  }
  close(master);
}

}  // namespace
}  // namespace scantling
