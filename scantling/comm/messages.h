// What the user reads when ranks do not meet. One wording for all backends.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "scantling/comm/call.h"

namespace scantling {

// Two ranks of one group made different calls.
std::string mismatch_message(Rank first_rank, const CommCall& first, Rank second_rank, const CommCall& second);

struct AbsentRank {
  Rank rank = 0;
  std::string lacks;      // "did not start it"
  std::string last_seen;  // "waiting for barrier (Reduce layer 3)"
};

// A wait ended at its time limit.
std::string time_limit_message(Rank waiting, const CommCall& call, std::chrono::milliseconds limit, const std::vector<AbsentRank>& absent);

}  // namespace scantling
