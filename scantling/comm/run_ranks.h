// Runs one function on every rank of a group of threads, so that no failure leaves a thread behind.
#pragma once

#include <functional>

#include "scantling/comm/communicator.h"
#include "scantling/comm/thread_communicator.h"

namespace scantling {

// Calls `body` on `size` new threads, each with its communicator, and returns when all have ended. An exception on one rank fails the
// group with "rank R: what", so that all others end as well; then the first exception that is a cause, not a consequence, is rethrown.
void run_ranks(int size, const std::function<void(Communicator&)>& body, ThreadGroupOptions options = {});

}  // namespace scantling
