// Sixteen lanes by column keep the order independent of the vector width. Long rows are cut into blocks by column.
#include "scantling/optim/gradient_norm.h"

#include <algorithm>
#include <cstddef>

#include "scantling/core/error.h"
#include "scantling/core/vectorized.h"

namespace scantling {
namespace {

constexpr int64_t block_columns = 4096;
constexpr int64_t lanes = 16;

inline double square(float value) { return static_cast<double>(value) * static_cast<double>(value); }

SCANTLING_VECTORIZED double sum_of_squares(const float* values, int64_t count) {
  double sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (int64_t lane = 0; lane < lanes; ++lane) sums[lane] += square(values[i + lane]);
  }
  for (int64_t lane = 0; i + lane < count; ++lane) sums[lane] += square(values[i + lane]);
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

}  // namespace

void add_squares(const float* gradient, int64_t first_element, int64_t count, int64_t row_elements, ExactSum& sum) {
  if (count == 0) return;
  check(row_elements > 0 && first_element % row_elements == 0 && count % row_elements == 0, "shards of gradients are cut between rows");
  for (int64_t row = 0; row < count; row += row_elements) {
    for (int64_t column = 0; column < row_elements; column += block_columns) {
      sum.add(sum_of_squares(gradient + row + column, std::min(block_columns, row_elements - column)));
    }
  }
}

float clip_factor(double norm, double max_norm) {
  if (max_norm == 0) return 1;
  return static_cast<float>(std::min(1.0, max_norm / (norm + 1e-6)));
}

}  // namespace scantling
