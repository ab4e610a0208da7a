// The rules of the interface live here once, so that every backend accepts and refuses the same calls.
#include "scantling/comm/call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "scantling/core/error.h"

namespace scantling {
namespace {

constexpr std::array<std::string_view, 8> names{"all_gather", "reduce_scatter", "all_reduce", "all_to_all",
                                                "broadcast",  "send",           "recv",       "barrier"};

void append_counts(std::vector<int64_t>& into, const std::vector<int64_t>& counts, const Communicator& caller) {
  check(counts.size() == static_cast<size_t>(caller.size()), "a collective is given one count per rank");
  check(std::all_of(counts.begin(), counts.end(), [](int64_t count) { return count >= 0; }), "counts are not negative");
  into.insert(into.end(), counts.begin(), counts.end());
}

template <typename Piece>
CommCall pieces_call(CommOperation operation, const std::vector<Piece>& pieces, DType dtype, const Communicator& caller) {
  CommCall call{operation, dtype, {}, -1, ReduceOperation::sum, caller.context()};
  call.counts.reserve(pieces.size() * static_cast<size_t>(caller.size()));
  for (const Piece& piece : pieces) append_counts(call.counts, piece.counts, caller);
  return call;
}

std::string list(std::span<const int64_t> counts) {
  constexpr size_t most = 16;
  return fmt::format("[{}{}]", fmt::join(counts.first(std::min(most, counts.size())), ", "), counts.size() > most ? ", ..." : "");
}

std::string amount(const CommCall& call) {
  const std::span counts(call.counts);
  switch (call.operation) {
    case CommOperation::all_to_all:
      return fmt::format(" sending {} receiving {}", list(counts.first(counts.size() / 2)), list(counts.last(counts.size() / 2)));
    case CommOperation::all_reduce:
      return fmt::format(" ({}) of {}", call.reduction == ReduceOperation::sum ? "sum" : "max", counts.front());
    case CommOperation::broadcast: return fmt::format(" from {} of {}", call.peer, counts.front());
    case CommOperation::send: return fmt::format(" to {} of {}", call.peer, counts.front());
    case CommOperation::recv: return fmt::format(" from {} of {}", call.peer, counts.front());
    default: return " of " + list(counts);
  }
}

}  // namespace

std::string_view name_of(CommOperation operation) { return names.at(static_cast<size_t>(operation)); }

std::string describe(const CommCall& call) {
  std::string text(name_of(call.operation));
  if (call.operation != CommOperation::barrier) text += fmt::format("{} {}", amount(call), name_of(call.dtype));
  if (!call.context.empty()) text += fmt::format(" ({})", call.context);
  return text;
}

bool agree(const CommCall& a, Rank a_rank, const CommCall& b, Rank b_rank, int size) {
  if (a.dtype != b.dtype) return false;
  const auto is = [&](CommOperation one, CommOperation other) { return a.operation == one && b.operation == other; };
  if (is(CommOperation::send, CommOperation::recv) || is(CommOperation::recv, CommOperation::send)) return a.counts == b.counts;
  if (a.operation != b.operation) return false;
  if (a.operation == CommOperation::all_to_all) {
    const auto sent = [](const CommCall& call, Rank to) { return call.counts[static_cast<size_t>(to)]; };
    const auto received = [&](const CommCall& call, Rank from) { return call.counts[static_cast<size_t>(size + from)]; };
    return sent(a, b_rank) == received(b, a_rank) && sent(b, a_rank) == received(a, b_rank);
  }
  return a.counts == b.counts && a.peer == b.peer && a.reduction == b.reduction;
}

CommCall gather_call(const std::vector<GatherPiece>& pieces, DType dtype, const Communicator& caller) {
  return pieces_call(CommOperation::all_gather, pieces, dtype, caller);
}

CommCall reduce_scatter_call(const std::vector<ReducePiece>& pieces, DType dtype, const Communicator& caller) {
  check(dtype == DType::float32 || dtype == DType::bfloat16 || dtype == DType::float16,
        "reduce_scatter takes float32, bfloat16 or float16");
  auto call = pieces_call(CommOperation::reduce_scatter, pieces, dtype, caller);
  for (const ReducePiece& piece : pieces) {
    check(piece.begins.empty() || piece.begins.size() == piece.counts.size(), "a reduce_scatter is given no begins or one per rank");
    const int64_t own = piece.counts[static_cast<size_t>(caller.rank())];
    check(piece.granularity > 0 && own % piece.granularity == 0, "the granularity divides what a rank sums");
    check(piece.whole == nullptr || piece.out != nullptr || !piece.accumulate || own == 0, "an accumulating reduce_scatter has old sums");
  }
  return call;
}

CommCall all_reduce_call(int64_t count, DType dtype, ReduceOperation reduction, const Communicator& caller) {
  check(dtype == DType::float32 || dtype == DType::float64 || dtype == DType::int64, "all_reduce takes float32, float64 or int64");
  check(count >= 0, "counts are not negative");
  return {CommOperation::all_reduce, dtype, {count}, -1, reduction, caller.context()};
}

CommCall all_to_all_call(const std::vector<int64_t>& send_counts, const std::vector<int64_t>& recv_counts, DType dtype,
                         const Communicator& caller) {
  CommCall call{CommOperation::all_to_all, dtype, {}, -1, ReduceOperation::sum, caller.context()};
  append_counts(call.counts, send_counts, caller);
  append_counts(call.counts, recv_counts, caller);
  const auto own = static_cast<size_t>(caller.rank());
  check(send_counts[own] == recv_counts[own], "a rank receives from itself what it sends to itself");
  return call;
}

CommCall peer_call(CommOperation operation, int64_t count, DType dtype, Rank peer, const Communicator& caller) {
  check(count >= 0, "counts are not negative");
  check(peer >= 0 && peer < caller.size(), "a peer lies in the group");
  return {operation, dtype, {count}, peer, ReduceOperation::sum, caller.context()};
}

CommCall barrier_call(const Communicator& caller) {
  return {CommOperation::barrier, DType::uint8, {}, -1, ReduceOperation::sum, caller.context()};
}

Rank place_in_subgroup(const std::vector<Rank>& members, const Communicator& caller) {
  std::vector<Rank> sorted = members;
  std::sort(sorted.begin(), sorted.end());
  check(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "members of a subgroup are named once");
  check(!sorted.empty() && sorted.front() >= 0 && sorted.back() < caller.size(), "members of a subgroup lie in the group");
  const auto place = std::find(members.begin(), members.end(), caller.rank());
  check(place != members.end(), "a rank asks only for subgroups it belongs to");
  return static_cast<Rank>(place - members.begin());
}

}  // namespace scantling
