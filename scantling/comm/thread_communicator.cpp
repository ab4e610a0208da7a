// The communicator of threads: each call becomes a task posted at a rendezvous. All collectives of a group share one channel; each
// ordered pair of ranks has one for its sends.
#include "scantling/comm/thread_communicator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <numeric>
#include <utility>

#include "scantling/comm/call.h"
#include "scantling/comm/copy_tasks.h"
#include "scantling/comm/reduce_tasks.h"
#include "scantling/comm/rendezvous.h"
#include "scantling/core/error.h"

namespace scantling {
namespace {

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<Rendezvous> rendezvous, std::string name, std::vector<Rank> members, Rank rank)
      : rendezvous_(std::move(rendezvous)),
        name_(std::move(name)),
        members_(std::move(members)),
        rank_(rank),
        collectives_(rendezvous_->channel(name_, members_, size())) {}

  Rank rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }

  Work all_gather(std::vector<GatherPiece> pieces, DType dtype) override {
    auto call = gather_call(pieces, dtype, *this);
    return start(std::move(call), make_gather_task(rank_, std::move(pieces), dtype));
  }

  Work reduce_scatter(std::vector<ReducePiece> pieces, DType dtype) override {
    auto call = reduce_scatter_call(pieces, dtype, *this);
    return start(std::move(call), make_reduce_scatter_task(rank_, std::move(pieces), dtype));
  }

  Work all_reduce(void* buffer, int64_t count, DType dtype, ReduceOperation operation) override {
    return start(all_reduce_call(count, dtype, operation, *this), make_all_reduce_task(rank_, size(), buffer, count, dtype, operation));
  }

  Work all_to_all(const void* send, std::vector<int64_t> send_counts, void* recv, std::vector<int64_t> recv_counts, DType dtype) override {
    auto call = all_to_all_call(send_counts, recv_counts, dtype, *this);
    return start(std::move(call), make_all_to_all_task(rank_, send, std::move(send_counts), recv, std::move(recv_counts), dtype));
  }

  Work broadcast(void* buffer, int64_t count, DType dtype, Rank root) override {
    return start(peer_call(CommOperation::broadcast, count, dtype, root, *this), make_broadcast_task(root, buffer, count, dtype));
  }

  Work send(const void* buffer, int64_t count, DType dtype, Rank to) override {
    auto call = peer_call(CommOperation::send, count, dtype, to, *this);
    return Work(rendezvous_->post(pair_channel(rank_, to), 0, std::move(call), make_send_task(buffer)));
  }

  Work recv(void* buffer, int64_t count, DType dtype, Rank from) override {
    auto call = peer_call(CommOperation::recv, count, dtype, from, *this);
    return Work(rendezvous_->post(pair_channel(from, rank_), 1, std::move(call), make_recv_task(buffer, count, dtype)));
  }

  Work barrier() override { return start(barrier_call(*this), make_barrier_task()); }

  std::unique_ptr<Communicator> subgroup(const std::vector<Rank>& members) override {
    const Rank place = place_in_subgroup(members, *this);
    std::vector<Rank> ranks;
    for (const Rank member : members) ranks.push_back(members_[static_cast<size_t>(member)]);
    auto name = fmt::format("{}/{}#{}", name_, fmt::join(ranks, ","), subgroups_made_[ranks]++);
    return std::make_unique<ThreadCommunicator>(rendezvous_, std::move(name), std::move(ranks), place);
  }

  void abort(const std::string& cause) override { rendezvous_->abort(cause); }

 private:
  Work start(CommCall call, std::unique_ptr<Task> task) {
    return Work(rendezvous_->post(collectives_, static_cast<size_t>(rank_), std::move(call), std::move(task)));
  }

  std::shared_ptr<Channel> pair_channel(Rank from, Rank to) {
    auto& channel = pair_channels_[{from, to}];
    if (!channel) {
      const std::vector<Rank> pair{members_[static_cast<size_t>(from)], members_[static_cast<size_t>(to)]};
      channel = rendezvous_->channel(fmt::format("{}:{}>{}", name_, from, to), pair, from == to ? 1 : 2);
    }
    return channel;
  }

  const std::shared_ptr<Rendezvous> rendezvous_;
  const std::string name_;  // equal on all members and of no other group
  const std::vector<Rank> members_;
  const Rank rank_;
  const std::shared_ptr<Channel> collectives_;
  std::map<std::pair<Rank, Rank>, std::shared_ptr<Channel>> pair_channels_;
  std::map<std::vector<Rank>, int> subgroups_made_;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> make_thread_group(int size, ThreadGroupOptions options) {
  check(size > 0, "a group has ranks");
  const auto rendezvous = std::make_shared<Rendezvous>(size, options);
  std::vector<Rank> members(static_cast<size_t>(size));
  std::iota(members.begin(), members.end(), 0);
  std::vector<std::unique_ptr<Communicator>> group;
  for (const Rank rank : members) group.push_back(std::make_unique<ThreadCommunicator>(rendezvous, "all", members, rank));
  return group;
}

}  // namespace scantling
