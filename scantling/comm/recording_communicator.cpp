// Every call is checked as a real backend would, written down with its group's global ranks, and complete at once.
#include "scantling/comm/recording_communicator.h"

#include <numeric>
#include <optional>

#include "scantling/comm/call.h"
#include "scantling/core/error.h"

namespace scantling {
namespace {

struct Shared {
  std::shared_ptr<CommunicationLog> log;
  std::optional<std::string> cause;
};

class RecordingCommunicator : public Communicator {
 public:
  RecordingCommunicator(Rank rank, std::vector<Rank> members, std::shared_ptr<Shared> shared)
      : rank_(rank), members_(std::move(members)), shared_(std::move(shared)) {}

  Rank rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }

  Work all_gather(std::vector<GatherPiece> pieces, DType dtype) override { return record(gather_call(pieces, dtype, *this)); }
  Work reduce_scatter(std::vector<ReducePiece> pieces, DType dtype) override { return record(reduce_scatter_call(pieces, dtype, *this)); }
  Work all_reduce(void* /*buffer*/, int64_t count, DType dtype, ReduceOperation operation) override {
    return record(all_reduce_call(count, dtype, operation, *this));
  }
  Work all_to_all(const void* /*send*/, std::vector<int64_t> send_counts, void* /*recv*/, std::vector<int64_t> recv_counts,
                  DType dtype) override {
    return record(all_to_all_call(send_counts, recv_counts, dtype, *this));
  }
  Work broadcast(void* /*buffer*/, int64_t count, DType dtype, Rank root) override {
    return record(peer_call(CommOperation::broadcast, count, dtype, root, *this));
  }
  Work send(const void* /*buffer*/, int64_t count, DType dtype, Rank to) override {
    return record(peer_call(CommOperation::send, count, dtype, to, *this));
  }
  Work recv(void* /*buffer*/, int64_t count, DType dtype, Rank from) override {
    return record(peer_call(CommOperation::recv, count, dtype, from, *this));
  }
  Work barrier() override { return record(barrier_call(*this)); }

  std::unique_ptr<Communicator> subgroup(const std::vector<Rank>& members) override {
    const Rank place = place_in_subgroup(members, *this);
    std::vector<Rank> ranks;
    for (const Rank member : members) ranks.push_back(members_[static_cast<size_t>(member)]);
    return std::make_unique<RecordingCommunicator>(place, std::move(ranks), shared_);
  }

  void abort(const std::string& cause) override {
    if (!shared_->cause) shared_->cause = cause;
  }

 private:
  Work record(const CommCall& call) {
    if (shared_->cause) throw CommError(*shared_->cause);
    const int64_t elements = std::accumulate(call.counts.begin(), call.counts.end(), int64_t{0});
    const Rank peer = call.peer < 0 ? -1 : members_[static_cast<size_t>(call.peer)];
    shared_->log->push_back(
        {std::string(name_of(call.operation)), members_, call.dtype, call.counts, elements * size_of(call.dtype), peer, call.context});
    return {};
  }

  const Rank rank_;
  const std::vector<Rank> members_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace

std::unique_ptr<Communicator> make_recording_communicator(Rank rank, int size, std::shared_ptr<CommunicationLog> log) {
  check(rank >= 0 && rank < size, "a rank lies in its group");
  std::vector<Rank> members(static_cast<size_t>(size));
  std::iota(members.begin(), members.end(), 0);
  return std::make_unique<RecordingCommunicator>(rank, std::move(members), std::make_shared<Shared>(Shared{std::move(log), {}}));
}

}  // namespace scantling
