// A sum of doubles without rounding: a fixed-point number wide enough for every double, rounded once when read. The result does not
// depend on the order or grouping of the additions, so gradient norms and losses have the same bits for every sharding.
// Ranks combine their sums by adding the limbs (an all-reduce of int64).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace scantling {

class ExactSum {
 public:
  static constexpr size_t value_limbs = 67;              // 32 bits each, the lowest in units of 2^-1074; the last takes carries
  static constexpr size_t limb_count = value_limbs + 3;  // and the numbers of NaN, +infinity and -infinity seen

  void add(double value);
  void merge(const ExactSum& other);

  // The sum, rounded to nearest even; infinite beyond the range of double. NaN and infinities added show as in plain sums.
  double value() const;

  // The whole state, with carries settled: sums over up to 2^16 ranks, limb by limb, cannot overflow. May be overwritten.
  std::span<int64_t, limb_count> limbs();

 private:
  void settle();

  std::array<int64_t, limb_count> limbs_{};
  int64_t unsettled_ = 0;  // additions since carries were last propagated
};

}  // namespace scantling
