// One communication call as data: what ranks compare on arrival, what errors show, what planning records.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scantling/comm/communicator.h"
#include "scantling/core/dtype.h"
#include "scantling/core/rank.h"

namespace scantling {

enum class CommOperation : uint8_t { all_gather, reduce_scatter, all_reduce, all_to_all, broadcast, send, recv, barrier };

std::string_view name_of(CommOperation operation);

struct CommCall {
  CommOperation operation = CommOperation::barrier;
  DType dtype = DType::uint8;
  std::vector<int64_t> counts;  // all pieces in a row; of all_to_all first what is sent, then what is received
  Rank peer = -1;               // root, or the other side of a send or recv, within the group
  ReduceOperation reduction = ReduceOperation::sum;
  std::string context;
};

// "all_gather of [4, 4] float32 (Gather model.layers.3)"; long lists are cut short.
std::string describe(const CommCall& call);

// Whether the calls of two different members (places in the group, of `size`) belong together.
bool agree(const CommCall& a, Rank a_rank, const CommCall& b, Rank b_rank, int size);

// Checks the arguments of a call (all counts at least 0, one per rank, peers in the group) and describes it.
CommCall gather_call(const std::vector<GatherPiece>& pieces, DType dtype, const Communicator& caller);
CommCall reduce_scatter_call(const std::vector<ReducePiece>& pieces, DType dtype, const Communicator& caller);
CommCall all_reduce_call(int64_t count, DType dtype, ReduceOperation reduction, const Communicator& caller);
CommCall all_to_all_call(const std::vector<int64_t>& send_counts, const std::vector<int64_t>& recv_counts, DType dtype,
                         const Communicator& caller);
CommCall peer_call(CommOperation operation, int64_t count, DType dtype, Rank peer, const Communicator& caller);  // broadcast, send, recv
CommCall barrier_call(const Communicator& caller);

// Checks a list of members: each in the group, none twice, the caller among them. Returns the caller's place.
Rank place_in_subgroup(const std::vector<Rank>& members, const Communicator& caller);

}  // namespace scantling
