// The ledger's arithmetic: categories, peaks, budget, scratch and events.
#include "scantling/memory/ledger.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "scantling/core/error.h"
#include "tests/data/data_files.h"

namespace scantling {
namespace {

int64_t sum(const CategoryBytes& bytes) { return std::accumulate(bytes.begin(), bytes.end(), int64_t{0}); }

TEST(Ledger, CategoriesSumToTheTotal) {
  Ledger ledger(0);
  ledger.charge(Category::parameters, 100, "a");
  ledger.charge(Category::activations, 30, "b");
  ledger.credit(Category::parameters, 40, "a");
  EXPECT_EQ(ledger.current_bytes(), 90);
  EXPECT_EQ(sum(ledger.current()), 90);
  EXPECT_EQ(ledger.current()[static_cast<size_t>(Category::parameters)], 60);
}

TEST(Ledger, PeakIsTheHighestMomentAndItsCategoriesSumToIt) {
  Ledger ledger(0);
  ledger.charge(Category::parameters, 100, "weights");
  ledger.set_instruction(7);
  ledger.charge(Category::gathered, 50, "unit");
  ledger.credit(Category::gathered, 50, "unit");
  ledger.charge(Category::gradients, 20, "later");
  EXPECT_EQ(ledger.peak().bytes, 150);
  EXPECT_EQ(sum(ledger.peak().categories), 150);
  EXPECT_EQ(ledger.peak().instruction, 7);
  EXPECT_EQ(ledger.peak().tensor, "unit");
  EXPECT_EQ(ledger.category_peaks()[static_cast<size_t>(Category::gradients)], 20);
}

TEST(Ledger, TheFirstOfEqualPeaksIsKept) {
  Ledger ledger(0);
  ledger.charge(Category::data, 10, "first");
  ledger.credit(Category::data, 10, "first");
  ledger.charge(Category::data, 10, "second");
  EXPECT_EQ(ledger.peak().tensor, "first");
}

TEST(Ledger, BudgetIsAllowedToTheByteAndNotBeyond) {
  Ledger ledger(0, 100);
  ledger.charge(Category::parameters, 100, "exactly");
  EXPECT_THROW(ledger.charge(Category::data, 1, "one more"), OutOfDeviceMemory);
  ledger.charge(Category::data, 0, "nothing");
  EXPECT_EQ(ledger.current_bytes(), 100);
}

TEST(Ledger, RefusalNamesRankPlaceTensorAndBytesAndChangesNothing) {
  Ledger ledger(3, 1024);
  ledger.set_describer([](int index) { return "instruction " + std::to_string(index); });
  ledger.charge(Category::parameters, 512, "weights");
  ledger.set_instruction(4);
  const auto message = failure_of<OutOfDeviceMemory>([&] { ledger.charge(Category::gathered, 2048, "model.layers.1"); });
  for (const char* part : {"Rank 3", "instruction 4", "model.layers.1", "gathered", "2.00 KiB", "512 B", "1.00 KiB", "1.50 KiB"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " is missing in: " << message;
  EXPECT_EQ(ledger.current_bytes(), 512);
  EXPECT_EQ(ledger.peak().bytes, 512);
}

TEST(Ledger, ScratchIsHeldAgainstTheReservation) {
  Ledger ledger(0);
  ledger.reserve_workspace(100);
  EXPECT_EQ(ledger.current()[static_cast<size_t>(Category::workspace)], 100);
  ledger.scratch(60);
  ledger.scratch(40);
  EXPECT_EQ(ledger.current_bytes(), 100);
  EXPECT_THROW(ledger.scratch(1), std::logic_error);
  EXPECT_EQ(ledger.scratch_peak_bytes(), 101);
}

TEST(Ledger, ReservingAgainChargesTheDifference) {
  Ledger ledger(0);
  ledger.reserve_workspace(100);
  ledger.reserve_workspace(30);
  EXPECT_EQ(ledger.current_bytes(), 30);
}

TEST(Ledger, TheLargestWishForWorkspaceIsRemembered) {
  Ledger ledger(0);
  for (const int64_t bytes : {5, 90, 10}) ledger.want_workspace(bytes);
  EXPECT_EQ(ledger.wanted_workspace_bytes(), 90);
  EXPECT_EQ(ledger.current_bytes(), 0);
}

TEST(Ledger, EventsTellWhatWasHeldAtThePeakLargestFirst) {
  Ledger ledger(0);
  ledger.keep_events();
  ledger.charge(Category::activations, 10, "gone before");
  ledger.credit(Category::activations, 10, "gone before");
  ledger.charge(Category::parameters, 10, "small");
  ledger.charge(Category::gradients, 30, "large");
  ledger.credit(Category::gradients, 30, "large");
  ledger.charge(Category::data, 5, "after");
  const std::vector<std::pair<std::string, int64_t>> expected{{"large", 30}, {"small", 10}};
  EXPECT_EQ(ledger.tensors_at_peak(), expected);
  EXPECT_EQ(ledger.events().size(), 6u);
}

TEST(Ledger, EveryCategoryHasItsOwnName) {
  std::set<std::string_view> names;
  for (int c = 0; c < num_categories; c++) names.insert(name_of(static_cast<Category>(c)));
  EXPECT_EQ(names.size(), static_cast<size_t>(num_categories));
}

}  // namespace
}  // namespace scantling
