// The order in which rows are used: a permutation that depends on seed, epoch and the number of rows, never on ranks or layout.
// A Fisher-Yates shuffle whose draws are Philox words keyed by the seed and counted by (draw, epoch), so any rank can make the order of any
// epoch without the ones before it.
#pragma once

#include <cstdint>
#include <vector>

namespace scantling {

class SampleOrder {
 public:
  // rows >= 0. Without `shuffle` every epoch has the order of the file.
  SampleOrder(uint64_t seed, int64_t rows, bool shuffle) : seed_(seed), rows_(rows), shuffle_(shuffle) {}

  // The row at `position` (0 to rows - 1) of an epoch (from 0). Keeps the permutation of the last epoch asked for (8 bytes a row), so an
  // object belongs to one thread.
  int64_t index(int64_t epoch, int64_t position);

  int64_t rows() const { return rows_; }

 private:
  uint64_t seed_;
  int64_t rows_;
  bool shuffle_;
  int64_t epoch_ = -1;
  std::vector<int64_t> permutation_;
};

}  // namespace scantling
