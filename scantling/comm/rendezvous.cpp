// One mutex guards the state; it is never held while tasks copy or add. Each rank sleeps on its own condition variable.
//
// Buffers stay safe because a part's owner leaves `wait` only when every member has done its rounds, and, when the group has failed or
// a Work is dropped, only when no task of that exchange runs any more (no new one begins: see `ready`).
#include "scantling/comm/rendezvous.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scantling/comm/messages.h"
#include "scantling/core/error.h"

namespace scantling {

struct Exchange {
  explicit Exchange(size_t members) : calls(members), tasks(members), rounds_done(members, 0) {}
  std::vector<std::shared_ptr<const CommCall>> calls;  // by member, set on arrival
  std::vector<std::unique_ptr<Task>> tasks;
  std::vector<int> rounds_done;
  int rounds = 1;
  size_t arrived = 0;
  int running = 0;         // tasks running now
  bool withdrawn = false;  // a member's buffers are gone: nobody may begin any more

  size_t members() const { return calls.size(); }
  bool all_did(int rounds_wanted) const {
    return arrived == members() && std::all_of(rounds_done.begin(), rounds_done.end(), [&](int done) { return done >= rounds_wanted; });
  }
  bool complete() const { return all_did(rounds); }
};

struct Rendezvous::Started {
  std::shared_ptr<Channel> channel;
  std::shared_ptr<Exchange> exchange;
  size_t member;
  int64_t number;
  bool calls_back;
  bool running = false;

  Rank rank() const { return channel->members[member]; }
  int rounds_done() const { return exchange->rounds_done[member]; }
  bool done() const { return rounds_done() == exchange->rounds; }
  bool ready() const { return !done() && !running && !exchange->withdrawn && exchange->all_did(rounds_done()); }
};

struct Rendezvous::StartedWork : Work::State {
  StartedWork(std::shared_ptr<Rendezvous> owner, std::shared_ptr<Started> part) : rendezvous(std::move(owner)), started(std::move(part)) {}
  ~StartedWork() override {
    if (!waited) rendezvous->withdraw(started);
  }
  void wait() override {
    rendezvous->wait(started);
    waited = true;
  }
  std::shared_ptr<Rendezvous> rendezvous;
  std::shared_ptr<Started> started;
  bool waited = false;
};

struct Rendezvous::Mailbox {
  std::condition_variable news;
  std::vector<std::shared_ptr<Started>> started;  // not yet waited for, in the order of their start
  std::string_view activity;                      // what the rank was last seen doing with `call`
  std::shared_ptr<const CommCall> call;

  void saw(std::string_view what, std::shared_ptr<const CommCall> with) {
    activity = what;
    call = std::move(with);
  }
  void forget(const std::shared_ptr<Started>& part) { started.erase(std::find(started.begin(), started.end(), part)); }
  std::string last_seen() const { return call ? fmt::format("{} {}", activity, describe(*call)) : "before its first call"; }
};

struct Rendezvous::Registered {
  std::shared_ptr<Channel> channel;
  int askers = 0;
};

Rendezvous::Rendezvous(int ranks, ThreadGroupOptions options) : options_(options) {
  for (int rank = 0; rank < ranks; ++rank) mailboxes_.push_back(std::make_unique<Mailbox>());
}

Rendezvous::~Rendezvous() = default;

std::shared_ptr<Channel> Rendezvous::channel(const std::string& key, const std::vector<Rank>& members, int askers) {
  const Lock lock(mutex_);
  Registered& entry = registered_[key];
  if (!entry.channel) entry.channel = std::make_shared<Channel>(members);
  auto channel = entry.channel;
  if (++entry.askers == askers) registered_.erase(key);
  return channel;
}

std::unique_ptr<Work::State> Rendezvous::post(std::shared_ptr<Channel> channel, size_t member, CommCall call, std::unique_ptr<Task> task) {
  const auto shared_call = std::make_shared<const CommCall>(std::move(call));
  Lock lock(mutex_);
  if (cause_) throw CommError(*cause_);
  const int64_t number = channel->next[member]++;
  const auto exchange = arrive(*channel, member, shared_call);
  auto started = std::make_shared<Started>(Started{channel, exchange, member, number, task->calls_back()});
  exchange->rounds = task->rounds();
  exchange->tasks[member] = std::move(task);
  const bool all_here = ++exchange->arrived == exchange->members();
  if (all_here) {
    channel->arriving.pop_front();
    ++channel->first_arriving;
  }
  Mailbox& mailbox = *mailboxes_[static_cast<size_t>(started->rank())];
  mailbox.started.push_back(started);
  mailbox.saw("after starting", shared_call);
  lock.unlock();
  if (all_here) notify(*channel);
  return std::make_unique<StartedWork>(shared_from_this(), std::move(started));
}

// Members arrive at their exchanges in order, so the front is always the first to be full.
std::shared_ptr<Exchange> Rendezvous::arrive(Channel& channel, size_t member, const std::shared_ptr<const CommCall>& call) {
  const auto place = static_cast<size_t>(channel.next[member] - 1 - channel.first_arriving);
  if (place == channel.arriving.size()) channel.arriving.push_back(std::make_shared<Exchange>(channel.members.size()));
  auto exchange = channel.arriving[place];
  for (size_t other = 0; other < exchange->members(); ++other) {
    if (!exchange->calls[other]) continue;
    const auto& other_call = *exchange->calls[other];
    if (agree(other_call, static_cast<Rank>(other), *call, static_cast<Rank>(member), static_cast<int>(exchange->members()))) continue;
    fail(mismatch_message(channel.members[other], other_call, channel.members[member], *call));
    throw CommError(*cause_);
  }
  exchange->calls[member] = call;
  return exchange;
}

void Rendezvous::wait(const std::shared_ptr<Started>& target) {
  const auto deadline = std::chrono::steady_clock::now() + options_.time_limit;
  Exchange& exchange = *target->exchange;
  Lock lock(mutex_);
  Mailbox& mailbox = *mailboxes_[static_cast<size_t>(target->rank())];
  mailbox.saw("waiting for", exchange.calls[target->member]);
  while (true) {
    if (cause_) throw CommError(*cause_);
    if (exchange.complete()) break;
    if (const auto next = next_runnable(*target)) {
      run(*next, lock);
    } else if (!sleep(*target, deadline, lock) && !may_go_on(*target)) {
      fail_at_time_limit(*target);
    }
  }
  mailbox.forget(target);
  mailbox.saw("after", exchange.calls[target->member]);
  const auto task = std::move(exchange.tasks[target->member]);
  lock.unlock();
  task->finish();
}

// Dropped without a completed wait. Members that have yet to look at the buffers never will; they wait for a failure of the group,
// which follows when this rank reports why it dropped the work, or else for the time limit.
void Rendezvous::withdraw(const std::shared_ptr<Started>& target) {
  Exchange& exchange = *target->exchange;
  std::unique_ptr<Task> task;
  Lock lock(mutex_);
  exchange.withdrawn = true;
  quiet_.wait(lock, [&] { return exchange.running == 0; });
  exchange.rounds_done[target->member] = exchange.rounds;  // if all others are done, they may go
  Mailbox& mailbox = *mailboxes_[static_cast<size_t>(target->rank())];
  mailbox.forget(target);
  mailbox.saw("after dropping, without waiting for it,", exchange.calls[target->member]);
  task = std::move(exchange.tasks[target->member]);
  lock.unlock();
  notify(*target->channel);
}

void Rendezvous::run(Started& started, Lock& lock) {
  Exchange& exchange = *started.exchange;
  const auto leave = [&] {
    lock.lock();
    started.running = false;
    if (--exchange.running == 0) quiet_.notify_all();
  };
  const int round = started.rounds_done();
  started.running = true;
  ++exchange.running;
  lock.unlock();
  try {
    exchange.tasks[started.member]->run(round, exchange.tasks);
  } catch (...) {
    leave();
    throw;
  }
  leave();
  const int done = ++exchange.rounds_done[started.member];
  if (!exchange.all_did(done)) return;
  lock.unlock();
  notify(*started.channel);
  lock.lock();
}

// The first part in each channel that has work left, if it is ready; see the head of the header for callbacks.
std::shared_ptr<Rendezvous::Started> Rendezvous::next_runnable(const Started& target) {
  const auto& started = mailboxes_[static_cast<size_t>(target.rank())]->started;
  for (auto part = started.begin(); part != started.end(); ++part) {
    const bool foreign_callback = (*part)->calls_back && ((*part)->channel != target.channel || (*part)->number > target.number);
    if (!(*part)->ready() || foreign_callback) continue;
    const auto goes_before = [&](const auto& earlier) { return earlier->channel == (*part)->channel && !earlier->done(); };
    if (std::none_of(started.begin(), part, goes_before)) return *part;
  }
  return nullptr;
}

bool Rendezvous::may_go_on(const Started& target) { return cause_ || target.exchange->complete() || next_runnable(target) != nullptr; }

bool Rendezvous::sleep(const Started& target, std::chrono::steady_clock::time_point deadline, Lock& lock) {
  const auto tell = [&](void (WaitObserver::*event)()) {
    if (options_.observer == nullptr) return;
    lock.unlock();
    (options_.observer->*event)();
    lock.lock();
  };
  tell(&WaitObserver::will_block);
  auto& news = mailboxes_[static_cast<size_t>(target.rank())]->news;
  const bool woken = news.wait_until(lock, deadline, [&] { return may_go_on(target); });
  tell(&WaitObserver::did_block);
  return woken;
}

void Rendezvous::notify(const Channel& channel) {
  for (const Rank rank : channel.members) mailboxes_[static_cast<size_t>(rank)]->news.notify_all();
}

void Rendezvous::abort(const std::string& cause) {
  const Lock lock(mutex_);
  fail(cause);
}

void Rendezvous::fail(const std::string& cause) {
  if (!cause_) cause_ = cause;
  for (const auto& mailbox : mailboxes_) mailbox->news.notify_all();
}

void Rendezvous::fail_at_time_limit(const Started& target) {
  const Exchange& exchange = *target.exchange;
  std::vector<AbsentRank> absent;
  for (size_t member = 0; member < exchange.members(); ++member) {
    const Rank rank = target.channel->members[member];
    const bool arrived = exchange.calls[member] != nullptr;
    const bool gone = arrived && exchange.withdrawn && !exchange.tasks[member];
    const bool all_arrived = exchange.arrived == exchange.members();
    const bool did_its_part = all_arrived ? exchange.rounds_done[member] == exchange.rounds : arrived;
    if (member == target.member || (did_its_part && !gone)) continue;
    const std::string_view lacks = gone ? "dropped it" : (arrived ? "started it but did not wait for it" : "did not start it");
    absent.push_back({rank, std::string(lacks), mailboxes_[static_cast<size_t>(rank)]->last_seen()});
  }
  fail(time_limit_message(target.rank(), *exchange.calls[target.member], options_.time_limit, absent));
}

}  // namespace scantling
