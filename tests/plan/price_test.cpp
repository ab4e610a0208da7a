// The plan is the run: planned and measured peaks are equal to the byte, per rank and category, and a budget is kept to the byte.
#include "scantling/plan/price.h"

#include <gtest/gtest.h>

#include <sstream>

#include "scantling/plan/remedies.h"
#include "tests/plan/layouts.h"

namespace scantling {
namespace {

using test::Bench;
using test::Flags;
using test::mesh;
using test::operator+;

// Documents that fill every row to its length, so that what is planned is what is run.
std::vector<test::Tokens> full_rows(int64_t length) { return test::documents_of(std::vector<int64_t>(84, length)); }

Flags resolved(const Bench& bench, Flags flags) {
  for (auto& flag : flags)
    if (flag == "EVAL") flag = "--data.eval=" + bench.rows();
  return flags;
}

std::string text_of(const Flags& flags) {
  std::string text;
  for (const auto& flag : flags) text += flag + " ";
  return text;
}

Flags without_length(Flags flags, int64_t& length) {
  std::erase_if(flags, [&](const std::string& flag) {
    const std::string key = "--data.max_length=";
    if (flag.starts_with(key)) length = std::stoll(flag.substr(key.size()));
    return flag.starts_with(key);
  });
  return flags;
}

class Planned : public testing::TestWithParam<bool> {};

TEST_P(Planned, PeakEqualsTheMeasuredPeakOfEveryRankAndCategory) {
  bool turn = GetParam();
  for (const auto& layout : test::planned_layouts()) {
    if (turn = !turn; turn) continue;  // every other layout is run tied
    int64_t length = 16;
    const auto flags = without_length(layout, length);
    const Bench bench(test::odd_llama(GetParam()), full_rows(length));
    const auto run = bench.train(resolved(bench, flags) + Flags{"--train.max_steps=2", "--data.max_length=" + std::to_string(length)});
    for (const auto& device : run.summary.devices) {
      const auto& planned = run.price.ranks[static_cast<size_t>(device.rank)].peak;
      EXPECT_EQ(planned.bytes, device.peak_bytes) << "rank " << device.rank << ": " << text_of(layout);
      EXPECT_EQ(planned.categories, device.categories) << "rank " << device.rank << ": " << text_of(layout);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tied, Planned, testing::Bool());

TEST(Price, ShorterRowsThanPlannedStayBelow) {
  const Bench bench;
  const auto run = bench.train(mesh(1, 2, {"--data.max_length=64"}));
  for (const auto& device : run.summary.devices) EXPECT_LT(device.peak_bytes, run.price.ranks[static_cast<size_t>(device.rank)].peak.bytes);
}

TEST(Price, MoreCoresThanTheMachineHasAreWithinTheReservation) {
  const Bench bench(test::tiny_llama(), full_rows(120));
  const auto run = bench.train({"--devices.cores=8", "--data.max_length=120", "--train.strict=false", "--train.max_steps=1"});
  EXPECT_EQ(run.price.ranks[0].peak.bytes, run.summary.devices[0].peak_bytes);
}

TEST(Price, ABudgetOfThePeakPassesAndOneByteLessIsRefused) {
  for (const auto& layout : {mesh(1, 1), mesh(2, 2, {"--layout.recompute=block"})}) {
    const Bench bench(test::tiny_llama(), full_rows(16));
    const auto job = make_job(bench.options(layout));
    const auto peak = price(job.model, job.layout, job.shape, &job.optimizer()).largest_peak();
    EXPECT_NO_THROW(bench.train(layout + Flags{"--devices.memory=" + std::to_string(peak)}));
    std::filesystem::remove_all(bench.path("out"));
    EXPECT_THROW(bench.train(layout + Flags{"--devices.memory=" + std::to_string(peak - 1)}), OutOfDeviceMemory);
    EXPECT_FALSE(std::filesystem::exists(bench.path("out"))) << "refused before anything is written";
  }
}

Price price_of(const Bench& bench, const Flags& flags) {
  const auto job = make_job(bench.options(flags));
  return price(job.model, job.layout, job.shape, &job.optimizer());
}

int64_t at_peak(const RankPrice& price, Category category) { return price.peak.categories[static_cast<size_t>(category)]; }

TEST(Price, ActivationsDoubleWithTheBatch) {
  const Bench bench;
  const auto one = price_of(bench, {"--train.per_device_train_batch_size=2"}),
             two = price_of(bench, {"--train.per_device_train_batch_size=4"});
  const auto slot = static_cast<size_t>(Category::activations);
  EXPECT_GT(one.ranks[0].category_peaks[slot], 0);
  EXPECT_EQ(two.ranks[0].category_peaks[slot], 2 * one.ranks[0].category_peaks[slot]);
}

TEST(Price, TheGatheredLayerIsCountedWholeOnEveryRank) {
  const Bench bench;
  const auto four = price_of(bench, mesh(1, 4, {"--layout.prefetch=0"}));
  for (const auto& rank : four.ranks)
    EXPECT_GE(rank.category_peaks[static_cast<size_t>(Category::gathered)], 147'968) << "rank " << rank.rank;
}

TEST(Price, StatesAreOfTrainedParametersOnly) {
  const Bench bench;
  const auto all = price_of(bench, {}), norms = price_of(bench, {"--layout.trainable=[\"*norm*\"]"});
  EXPECT_EQ(at_peak(all.ranks[0], Category::optimizer), 106'816 * 8);
  EXPECT_EQ(at_peak(norms.ranks[0], Category::optimizer), 320 * 8);
  EXPECT_EQ(at_peak(norms.ranks[0], Category::parameters), 106'816 * 4);
}

TEST(Price, FourShardsNeedLessThanHalfWhereStatesDominate) {
  auto config = test::tiny_llama();
  config.update({{"num_hidden_layers", 24}, {"hidden_size", 128}, {"intermediate_size", 512}});
  const Bench bench(config);
  const auto one = price_of(bench, {}).largest_peak(), four = price_of(bench, mesh(1, 4)).largest_peak();
  EXPECT_LT(static_cast<double>(four), 0.45 * static_cast<double>(one));
}

TEST(Price, BytesReceivedAreThoseOfGathersAndReductions) {
  const Bench bench;
  EXPECT_EQ(price_of(bench, {}).ranks[0].bytes_received, 0);
  EXPECT_GT(price_of(bench, mesh(1, 4)).ranks[0].bytes_received, 2 * 3 * 106'816);
}

PricedRun priced(const Job& job) { return {&job.model, job.options.layout, job.options.devices, job.shape, job.options.train.optimizer}; }

TEST(Remedies, EachIsTrueWhenItIsUsed) {
  const Bench bench(test::tiny_llama(), full_rows(96));
  const Flags shape{"--train.per_device_train_batch_size=4", "--data.max_length=96"};
  const auto budget = price_of(bench, shape).largest_peak() - 1;
  const auto base = shape + Flags{"--devices.memory=" + std::to_string(budget)};
  const auto remedies = find_remedies(priced(make_job(bench.options(base))));
  ASSERT_GE(remedies.size(), 4u);
  EXPECT_TRUE(remedies.front().fits) << remedies.front().change;
  for (const auto& remedy : remedies) {
    Flags flags = base;
    std::istringstream words(remedy.change);
    for (std::string word; words >> word;) {
      std::erase_if(flags, [&](const std::string& flag) { return flag.starts_with("--" + word.substr(0, word.find('=') + 1)); });
      flags.push_back("--" + word);
    }
    EXPECT_EQ(price_of(bench, flags).largest_peak(), remedy.peak_bytes) << remedy.change;
    EXPECT_EQ(remedy.peak_bytes <= budget, remedy.fits) << remedy.change;
  }
}

TEST(Remedies, TheRefusalTellsThem) {
  const Bench bench(test::tiny_llama(), full_rows(96));
  const auto job = make_job(bench.options({"--data.max_length=96", "--devices.memory=1MiB"}));
  const auto planned = price(job.model, job.layout, job.shape, &job.optimizer());
  const auto message = failure_of<OutOfDeviceMemory>([&] { require_fit(job, planned); });
  for (const auto& part : {std::string("layout.recompute=block"), std::to_string(planned.largest_peak()), std::string("1.00 MiB")})
    EXPECT_NE(message.find(part), std::string::npos) << part << " is missing in: " << message;
}

}  // namespace
}  // namespace scantling
