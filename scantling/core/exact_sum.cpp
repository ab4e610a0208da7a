// Each addition changes three neighbouring limbs by less than 2^32, so 2^29 additions fit beside settled limbs (and sums of 2^16 of
// them) in 63 bits. Settling leaves every limb but the last in [0, 2^32); the sign is that of the last.
#include "scantling/core/exact_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace scantling {
namespace {

constexpr int64_t most_unsettled = int64_t{1} << 29;
constexpr size_t nan_place = ExactSum::value_limbs;
constexpr size_t plus_infinity_place = nan_place + 1;
constexpr size_t minus_infinity_place = nan_place + 2;
constexpr int lowest_exponent = -1074;

using Limbs = std::array<int64_t, ExactSum::limb_count>;

void propagate_carries(Limbs& limbs) {
  for (size_t i = 0; i + 1 < ExactSum::value_limbs; ++i) {
    const int64_t carry = limbs[i] >> 32;
    limbs[i] -= carry * (int64_t{1} << 32);
    limbs[i + 1] += carry;
  }
}

// Bit `place` of a settled, non-negative number; the last limb is wider than 32 bits.
bool bit_at(const Limbs& limbs, int place) {
  const int limb = std::min(place / 32, static_cast<int>(ExactSum::value_limbs) - 1);
  return ((static_cast<uint64_t>(limbs[static_cast<size_t>(limb)]) >> (place - 32 * limb)) & 1U) != 0;
}

int highest_bit(const Limbs& limbs) {
  for (int limb = static_cast<int>(ExactSum::value_limbs) - 1; limb >= 0; --limb) {
    const auto word = static_cast<uint64_t>(limbs[static_cast<size_t>(limb)]);
    if (word != 0) return 32 * limb + 63 - std::countl_zero(word);
  }
  return -1;
}

double round_to_double(const Limbs& limbs) {
  const int high = highest_bit(limbs);
  const int low = std::max(high - 52, 0);
  uint64_t mantissa = 0;
  for (int place = high; place >= low; --place) mantissa = 2 * mantissa + (bit_at(limbs, place) ? 1 : 0);
  if (low > 0 && bit_at(limbs, low - 1)) {
    bool sticky = false;
    for (int place = low - 2; place >= 0 && !sticky; --place) sticky = bit_at(limbs, place);
    if (sticky || (mantissa & 1U) != 0) ++mantissa;
  }
  return std::ldexp(static_cast<double>(mantissa), low + lowest_exponent);
}

}  // namespace

void ExactSum::add(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const bool negative = (bits >> 63) != 0;
  const auto exponent = static_cast<int>((bits >> 52) & 0x7ff);
  uint64_t mantissa = bits & ((uint64_t{1} << 52) - 1);
  if (exponent == 0x7ff) {
    ++limbs_[mantissa != 0 ? nan_place : (negative ? minus_infinity_place : plus_infinity_place)];
    return;
  }
  if (exponent != 0) mantissa |= uint64_t{1} << 52;
  const int place = exponent == 0 ? 0 : exponent - 1;
  const int shift = place % 32;
  const uint64_t low = mantissa << shift;
  const uint64_t high = shift == 0 ? 0 : mantissa >> (64 - shift);
  const int64_t sign = negative ? -1 : 1;
  int64_t* limb = limbs_.data() + place / 32;
  limb[0] += sign * static_cast<int64_t>(low & 0xffffffffU);
  limb[1] += sign * static_cast<int64_t>(low >> 32);
  limb[2] += sign * static_cast<int64_t>(high);
  if (++unsettled_ >= most_unsettled) settle();
}

void ExactSum::merge(const ExactSum& other) {
  Limbs settled = other.limbs_;
  propagate_carries(settled);
  settle();
  for (size_t i = 0; i < limb_count; ++i) limbs_[i] += settled[i];
  settle();
}

double ExactSum::value() const {
  const bool plus = limbs_[plus_infinity_place] != 0;
  const bool minus = limbs_[minus_infinity_place] != 0;
  if (limbs_[nan_place] != 0 || (plus && minus)) return std::numeric_limits<double>::quiet_NaN();
  if (plus) return std::numeric_limits<double>::infinity();
  if (minus) return -std::numeric_limits<double>::infinity();
  Limbs settled = limbs_;
  propagate_carries(settled);
  const bool negative = settled[value_limbs - 1] < 0;
  if (negative) {
    for (size_t i = 0; i < value_limbs; ++i) settled[i] = -settled[i];
    propagate_carries(settled);
  }
  const double magnitude = round_to_double(settled);
  return negative ? -magnitude : magnitude;
}

std::span<int64_t, ExactSum::limb_count> ExactSum::limbs() {
  settle();
  return limbs_;
}

void ExactSum::settle() {
  propagate_carries(limbs_);
  unsettled_ = 0;
}

}  // namespace scantling
