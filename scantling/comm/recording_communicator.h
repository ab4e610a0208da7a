// The communicator of planning: moves nothing, remembers what was asked of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scantling/comm/communicator.h"

namespace scantling {

struct CommunicationRecord {
  std::string operation;      // "all_gather", "reduce_scatter", ...
  std::vector<Rank> members;  // global ranks of the group
  DType dtype;
  std::vector<int64_t> counts;  // as given (all pieces in a row)
  int64_t bytes;                // of the whole tensors
  Rank peer = -1;               // root, or the other side of a send or recv
  std::string context;
  bool operator==(const CommunicationRecord&) const = default;
};

using CommunicationLog = std::vector<CommunicationRecord>;

// Buffers may be null. Subgroups write into the same log.
std::unique_ptr<Communicator> make_recording_communicator(Rank rank, int size, std::shared_ptr<CommunicationLog> log);

}  // namespace scantling
