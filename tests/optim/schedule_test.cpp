#include "scantling/optim/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace scantling {
namespace {

std::vector<double> rates(const ScheduleOptions& options, double rate, int64_t total) {
  const Schedule schedule(options, rate, total);
  std::vector<double> values;
  for (int64_t step = 1; step <= total; ++step) values.push_back(schedule.at(step));
  return values;
}

TEST(Schedule, LinearPeaksOnceAndEndsAtZero) {
  const std::vector<double> values = rates({.kind = ScheduleKind::linear, .warmup_steps = 10}, 1e-3, 20);
  for (size_t step = 1; step <= 10; ++step) EXPECT_DOUBLE_EQ(values[step - 1], 1e-4 * static_cast<double>(step)) << "step " << step;
  for (size_t step = 11; step <= 20; ++step) EXPECT_NEAR(values[step - 1], 1e-4 * static_cast<double>(20 - step), 1e-18) << "step " << step;
  EXPECT_EQ(values[9], 1e-3);
  EXPECT_EQ(std::count(values.begin(), values.end(), 1e-3), 1);
  EXPECT_EQ(values[19], 0);
}

TEST(Schedule, ConstantStaysAfterWarmUp) {
  EXPECT_EQ(rates({.kind = ScheduleKind::constant}, 0.5, 3), (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_EQ(rates({.kind = ScheduleKind::constant, .warmup_steps = 2}, 0.5, 4), (std::vector<double>{0.25, 0.5, 0.5, 0.5}));
}

TEST(Schedule, CosineIsHalfwayInTheMiddleAndEndsAtTheMinimum) {
  const std::vector<double> values = rates({.kind = ScheduleKind::cosine, .warmup_steps = 2, .min_learning_rate = 0.1}, 0.9, 10);
  EXPECT_EQ(values[1], 0.9);
  EXPECT_NEAR(values[5], 0.5, 1e-15);
  EXPECT_EQ(values[9], 0.1);
  EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend() - 1));
}

TEST(Schedule, WarmupStableDecayHoldsThenFalls) {
  const ScheduleOptions options{.kind = ScheduleKind::warmup_stable_decay, .warmup_steps = 2, .decay_steps = 4, .min_learning_rate = 0.2};
  const std::vector<double> values = rates(options, 1.0, 10);
  for (size_t step = 2; step <= 6; ++step) EXPECT_EQ(values[step - 1], 1.0) << "step " << step;
  EXPECT_NEAR(values[7], 0.6, 1e-15);
  EXPECT_EQ(values[9], 0.2);
}

TEST(Schedule, DecayIsATenthOfTheRunUnlessGiven) {
  const std::vector<double> values = rates({.kind = ScheduleKind::warmup_stable_decay}, 1.0, 40);
  EXPECT_EQ(std::count(values.begin(), values.end(), 1.0), 36);
  EXPECT_EQ(values[39], 0);
  EXPECT_EQ(rates({.kind = ScheduleKind::warmup_stable_decay}, 1.0, 1), std::vector<double>{0});
}

TEST(Schedule, RunThatEndsInItsWarmUpOnlyRises) {
  for (const ScheduleKind kind : {ScheduleKind::constant, ScheduleKind::linear, ScheduleKind::cosine, ScheduleKind::warmup_stable_decay}) {
    EXPECT_EQ(rates({.kind = kind, .warmup_steps = 4}, 1.0, 2), (std::vector<double>{0.25, 0.5}));
    EXPECT_EQ(rates({.kind = kind, .warmup_steps = 2}, 1.0, 2), (std::vector<double>{0.5, 1.0}));
  }
}

TEST(Schedule, RefusesWhatDoesNotFit) {
  const ScheduleOptions options{.kind = ScheduleKind::warmup_stable_decay, .warmup_steps = 5, .decay_steps = 6};
  EXPECT_THROW(Schedule(options, 1.0, 10), ConfigError);
  EXPECT_NO_THROW(Schedule(options, 1.0, 11));
  EXPECT_THROW(Schedule({.min_learning_rate = 0.1}, 0.01, 10), ConfigError);
  EXPECT_THROW(Schedule({}, 1.0, 10).at(0), std::logic_error);
  EXPECT_THROW(Schedule({}, 1.0, 10).at(11), std::logic_error);
}

}  // namespace
}  // namespace scantling
