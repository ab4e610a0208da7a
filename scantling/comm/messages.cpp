// Each message: what happened, with both sides; what is required; where to look or what to set.
#include "scantling/comm/messages.h"

#include <fmt/format.h>

namespace scantling {

std::string mismatch_message(Rank first_rank, const CommCall& first, Rank second_rank, const CommCall& second) {
  return fmt::format(
      "rank {} called {}, but rank {} called {}. All ranks of a group must make the same calls in the same order with the same counts "
      "and type. Compare the programs of ranks {} and {} at this place",
      first_rank, describe(first), second_rank, describe(second), first_rank, second_rank);
}

std::string time_limit_message(Rank waiting, const CommCall& call, std::chrono::milliseconds limit, const std::vector<AbsentRank>& absent) {
  std::string others;
  for (const AbsentRank& rank : absent) {
    others += fmt::format("{}rank {} {} (last seen {})", others.empty() ? "" : "; ", rank.rank, rank.lacks, rank.last_seen);
  }
  return fmt::format(
      "rank {} waited {} ms in {}: {}. All ranks must get there within the time limit. Look at rank {} first; raise the limit of {} ms "
      "if it only needs longer",
      waiting, limit.count(), describe(call), others, absent.empty() ? waiting : absent.front().rank, limit.count());
}

}  // namespace scantling
