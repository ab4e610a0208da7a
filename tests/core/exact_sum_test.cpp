// Exactness is checked where plain sums fail: cancellation, ties, subnormals, the largest numbers, and every order of the same terms.
#include "scantling/core/exact_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "scantling/core/random.h"

namespace scantling {
namespace {

constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double infinity = std::numeric_limits<double>::infinity();

double exact(const std::vector<double>& terms) {
  ExactSum sum;
  for (const double term : terms) sum.add(term);
  return sum.value();
}

std::vector<double> wide_terms(size_t count) {
  std::vector<double> terms(count);
  for (size_t i = 0; i < count; ++i) terms[i] = std::ldexp(uniform(1, 1, i) - 0.5, static_cast<int>(uniform(1, 2, i) * 600) - 300);
  return terms;
}

TEST(ExactSum, OfOneTermIsThatTerm) {
  for (const double term : {0.0, 1.0, -1.0, 0.1, -1e300, largest, -largest, smallest, -smallest, 0x1p-1022, 0x1.fffffffffffffp-1023}) {
    EXPECT_EQ(exact({term}), term);
  }
  EXPECT_EQ(exact({}), 0.0);
}

TEST(ExactSum, LosesNothingToCancellation) {
  EXPECT_EQ(exact({1e300, 1.0, -1e300}), 1.0);
  EXPECT_EQ(exact({1e16, 1.0, 1.0, -1e16}), 2.0);
  EXPECT_EQ(exact({largest, largest, -largest, -largest, smallest}), smallest);
  EXPECT_EQ(exact({0.1, -0.1}), 0.0);
}

TEST(ExactSum, RoundsTiesToEvenAndSeesStickyBits) {
  EXPECT_EQ(exact({1.0, 0x1p-53}), 1.0);
  EXPECT_EQ(exact({1.0, 0x1p-53, smallest}), 1.0 + 0x1p-52);
  EXPECT_EQ(exact({1.0 + 0x1p-52, 0x1p-53}), 1.0 + 0x1p-51);
  EXPECT_EQ(exact({-1.0, -0x1p-53, -smallest}), -1.0 - 0x1p-52);
  EXPECT_EQ(exact({2.0, -0x1p-53, -smallest}), 2.0 - 0x1p-52);
}

TEST(ExactSum, OverflowsOnlyWhenTheTotalDoes) {
  EXPECT_EQ(exact({largest, largest}), infinity);
  EXPECT_EQ(exact({-largest, -largest}), -infinity);
  EXPECT_EQ(exact({largest, largest, -largest}), largest);
}

TEST(ExactSum, ShowsNonFiniteTerms) {
  EXPECT_EQ(exact({1.0, infinity}), infinity);
  EXPECT_EQ(exact({1.0, -infinity}), -infinity);
  EXPECT_TRUE(std::isnan(exact({infinity, -infinity})));
  EXPECT_TRUE(std::isnan(exact({1.0, std::nan("")})));
}

TEST(ExactSum, DoesNotDependOnOrder) {
  auto terms = wide_terms(1000);
  const double forward = exact(terms);
  std::reverse(terms.begin(), terms.end());
  EXPECT_EQ(exact(terms), forward);
  std::sort(terms.begin(), terms.end());
  EXPECT_EQ(exact(terms), forward);
}

TEST(ExactSum, AgreesWithLongIntegers) {
  ExactSum sum;
  __int128 total = 0;
  for (uint64_t i = 0; i < 10000; ++i) {
    const auto term = static_cast<int64_t>(std::ldexp(uniform(2, 3, i) - 0.5, 60));
    sum.add(static_cast<double>(term));
    total += static_cast<int64_t>(static_cast<double>(term));
  }
  EXPECT_EQ(sum.value(), static_cast<double>(total));
}

TEST(ExactSum, IsTheSameForEverySharding) {
  const auto terms = wide_terms(997);
  for (const size_t ranks : {1, 2, 3, 8}) {
    ExactSum merged;
    ExactSum reduced;
    for (size_t rank = 0; rank < ranks; ++rank) {
      ExactSum own;
      for (size_t i = rank; i < terms.size(); i += ranks) own.add(terms[i]);
      merged.merge(own);
      const auto limbs = own.limbs();
      const auto into = reduced.limbs();
      for (size_t i = 0; i < limbs.size(); ++i) into[i] += limbs[i];
    }
    EXPECT_EQ(merged.value(), exact(terms)) << ranks;
    EXPECT_EQ(reduced.value(), exact(terms)) << ranks;
  }
}

TEST(ExactSum, MergingCarriesNonFiniteTerms) {
  ExactSum a;
  ExactSum b;
  a.add(1);
  b.add(infinity);
  a.merge(b);
  EXPECT_EQ(a.value(), infinity);
}

}  // namespace
}  // namespace scantling
