// The global gradient norm, with the same bits for every sharding. A square of a float is exact in double; the squares of one row are
// added in double in a fixed order by column, and the row sums go into an ExactSum, whose additions have no order. Shards are cut
// between rows, so each row's sum is made whole on one rank. Frozen parameters are not added.
#pragma once

#include <cstdint>

#include "scantling/core/exact_sum.h"

namespace scantling {

// Adds the squares of `count` gradients: those from global element `first_element` on of a tensor whose rows (all dimensions but
// the first) hold `row_elements`. Begin and end must lie between rows. NaN or infinity in a gradient shows in sum.value().
void add_squares(const float* gradient, int64_t first_element, int64_t count, int64_t row_elements, ExactSum& sum);

// min(1, max_norm / (norm + 1e-6)): what every gradient is multiplied by. 1 when max_norm is 0 (no clipping).
float clip_factor(double norm, double max_norm);

}  // namespace scantling
