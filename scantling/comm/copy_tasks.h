// What operations that only move elements do when all ranks of a thread group have arrived.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scantling/comm/rendezvous.h"

namespace scantling {

std::unique_ptr<Task> make_gather_task(Rank rank, std::vector<GatherPiece> pieces, DType dtype);
std::unique_ptr<Task> make_all_to_all_task(Rank rank, const void* send, std::vector<int64_t> send_counts, void* recv,
                                           std::vector<int64_t> recv_counts, DType dtype);
std::unique_ptr<Task> make_broadcast_task(Rank root, void* buffer, int64_t count, DType dtype);
std::unique_ptr<Task> make_send_task(const void* buffer);  // member 0 of its channel; the receiver is member 1
std::unique_ptr<Task> make_recv_task(void* buffer, int64_t count, DType dtype);
std::unique_ptr<Task> make_barrier_task();

}  // namespace scantling
