// Draw i picks from the i + 1 places 0..i by multiplying 64 random bits with i + 1 and keeping the high word; its bias is below
// rows / 2^64. The counter's upper half is a
// stream of its own for each epoch, away from the streams of initial weights and dropout.
#include "scantling/data/sample_order.h"

#include <numeric>
#include <utility>

#include "scantling/core/error.h"
#include "scantling/core/random.h"

namespace scantling {
namespace {

int64_t draw_below(uint64_t seed, uint64_t epoch, uint64_t draw, uint64_t bound) {
  const uint64_t stream = stream_of("sample order") + epoch;
  const auto words = philox(
      {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
      {static_cast<uint32_t>(draw), static_cast<uint32_t>(draw >> 32), static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)});
  const uint64_t bits = (uint64_t{words[0]} << 32) | words[1];
  return static_cast<int64_t>(static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * bound) >> 64));
}

std::vector<int64_t> shuffled(uint64_t seed, int64_t epoch, int64_t rows) {
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t last = rows - 1; last > 0; --last) {
    const int64_t other = draw_below(seed, static_cast<uint64_t>(epoch), static_cast<uint64_t>(last), static_cast<uint64_t>(last) + 1);
    std::swap(order[static_cast<size_t>(last)], order[static_cast<size_t>(other)]);
  }
  return order;
}

}  // namespace

int64_t SampleOrder::index(int64_t epoch, int64_t position) {
  check(epoch >= 0 && position >= 0 && position < rows_, "a position inside an epoch");
  if (!shuffle_) return position;
  if (epoch != epoch_) {
    permutation_ = shuffled(seed_, epoch, rows_);
    epoch_ = epoch;
  }
  return permutation_[static_cast<size_t>(position)];
}

}  // namespace scantling
