// The inner loops of reductions. Elements are combined one by one, in the order of the calls, so results do not depend on how loops
// are vectorised.
#pragma once

#include <cstdint>

#include "scantling/comm/communicator.h"
#include "scantling/core/dtype.h"

namespace scantling {

// sums[i] += contribution[i], in float32; `dtype` is that of the contribution: float32, bfloat16 or float16.
void add_to_sums(float* sums, const void* contribution, DType dtype, int64_t count);

// into[i] = into[i] combined with from[i]; float32, float64 or int64 (sums wrap around). The maximum of NaN and anything is NaN.
void combine(void* into, const void* from, int64_t count, DType dtype, ReduceOperation operation);

}  // namespace scantling
