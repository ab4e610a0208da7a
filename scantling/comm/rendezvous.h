// Where threads meet. Each member posts its part of an exchange without blocking; when all have arrived, each does its own part
// directly on the others' buffers; a wait returns when all have done theirs. So an exchange costs two sleeps, whatever it carries.
//
// Parts of one channel are done in the order they were started. A rank that has to sleep first does any other part it has started
// and that is ready, so waiting in different orders on different ranks cannot block; only parts that call back are left to their own
// wait (or that of a later part of the channel), because their callbacks must run at a known place.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scantling/comm/call.h"
#include "scantling/comm/thread_communicator.h"

namespace scantling {

// One member's part of an exchange: its buffers and what it does with those of the others. Lives on the member's own thread.
class Task {
 public:
  using All = std::span<const std::unique_ptr<Task>>;  // in the order of the channel's members; all of the same class or a matching pair
  virtual ~Task() = default;
  // All members finish a round before any begins the next one.
  virtual int rounds() const { return 1; }
  virtual void run(int round, All tasks) = 0;
  // After the last round: no other member looks at this task any more.
  virtual void finish() {}
  virtual bool calls_back() const { return false; }
};

struct Exchange;

// A sequence of exchanges between the same members. The k-th call of every member belongs to the k-th exchange.
struct Channel {
  explicit Channel(std::vector<Rank> ranks) : members(std::move(ranks)), next(members.size(), 0) {}
  const std::vector<Rank> members;                 // ranks of the whole group
  std::vector<int64_t> next;                       // by member: number of its next exchange
  std::deque<std::shared_ptr<Exchange>> arriving;  // those that not all members have reached
  int64_t first_arriving = 0;                      // number of the front
};

class Rendezvous : public std::enable_shared_from_this<Rendezvous> {
 public:
  Rendezvous(int ranks, ThreadGroupOptions options);
  ~Rendezvous();

  // Throws CommError if the group has failed, and fails it if the call differs from another member's.
  std::unique_ptr<Work::State> post(std::shared_ptr<Channel> channel, size_t member, CommCall call, std::unique_ptr<Task> task);

  void abort(const std::string& cause);

  // The channel filed under `key`, made by the first of its members to ask and forgotten once `askers` have.
  std::shared_ptr<Channel> channel(const std::string& key, const std::vector<Rank>& members, int askers);

 private:
  struct Started;
  struct StartedWork;
  struct Mailbox;
  struct Registered;
  using Lock = std::unique_lock<std::mutex>;

  std::shared_ptr<Exchange> arrive(Channel& channel, size_t member, const std::shared_ptr<const CommCall>& call);
  void wait(const std::shared_ptr<Started>& target);
  void withdraw(const std::shared_ptr<Started>& target);
  void run(Started& started, Lock& lock);
  std::shared_ptr<Started> next_runnable(const Started& target);
  bool may_go_on(const Started& target);
  bool sleep(const Started& target, std::chrono::steady_clock::time_point deadline, Lock& lock);
  void notify(const Channel& channel);
  void fail(const std::string& cause);
  void fail_at_time_limit(const Started& target);

  const ThreadGroupOptions options_;
  std::mutex mutex_;  // guards everything below and all channels and exchanges; never held while tasks run
  std::optional<std::string> cause_;
  std::vector<std::unique_ptr<Mailbox>> mailboxes_;  // by rank
  std::map<std::string, Registered> registered_;
  std::condition_variable quiet_;  // an exchange has no running task any more
};

}  // namespace scantling
