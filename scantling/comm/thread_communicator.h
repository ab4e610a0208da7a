// Ranks as threads of one process.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "scantling/comm/communicator.h"

namespace scantling {

// Told when a rank's thread is about to sleep in a wait and when it goes on, so that another rank may compute meanwhile.
struct WaitObserver {
  virtual ~WaitObserver() = default;
  virtual void will_block() = 0;
  virtual void did_block() = 0;
};

struct ThreadGroupOptions {
  std::chrono::milliseconds time_limit{60000};  // for one wait
  WaitObserver* observer = nullptr;             // not owned; called from the waiting rank's thread
};

// One communicator per rank, each to be used by one thread at a time. Waits block, they do not spin.
std::vector<std::unique_ptr<Communicator>> make_thread_group(int size, ThreadGroupOptions options = {});

}  // namespace scantling
