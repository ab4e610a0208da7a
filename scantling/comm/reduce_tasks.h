// What operations that add do when all ranks of a thread group have arrived.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scantling/comm/rendezvous.h"

namespace scantling {

std::unique_ptr<Task> make_reduce_scatter_task(Rank rank, std::vector<ReducePiece> pieces, DType dtype);
std::unique_ptr<Task> make_all_reduce_task(Rank rank, int size, void* buffer, int64_t count, DType dtype, ReduceOperation operation);

}  // namespace scantling
