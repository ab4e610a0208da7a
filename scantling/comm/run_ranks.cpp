// A failed group makes all other ranks throw CommError too. The cause is the first exception of another kind; if there is none, the
// first CommError, which is the one that failed the group.
#include "scantling/comm/run_ranks.h"

#include <fmt/format.h>

#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "scantling/core/error.h"

namespace scantling {
namespace {

class Failures {
 public:
  // To be called in a handler. Fails the group of `communicator` with what is being handled.
  void take(Communicator& communicator) {
    std::string what = "unknown exception";
    bool consequence = false;
    try {
      throw;
    } catch (const CommError& error) {
      what = error.what();
      consequence = true;
    } catch (const std::exception& error) {
      what = error.what();
    } catch (...) {
    }
    {
      const std::lock_guard lock(mutex_);
      std::exception_ptr& first = consequence ? first_comm_error_ : first_cause_;
      if (!first) first = std::current_exception();
    }
    communicator.abort(fmt::format("rank {}: {}", communicator.rank(), what));
  }

  void rethrow() const {
    if (first_cause_) std::rethrow_exception(first_cause_);
    if (first_comm_error_) std::rethrow_exception(first_comm_error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_cause_;
  std::exception_ptr first_comm_error_;
};

}  // namespace

void run_ranks(int size, const std::function<void(Communicator&)>& body, ThreadGroupOptions options) {
  Failures failures;
  {
    const auto group = make_thread_group(size, options);
    std::vector<std::jthread> threads;
    for (const auto& communicator : group) {
      try {
        threads.emplace_back([&body, &failures, rank = communicator.get()] {
          try {
            body(*rank);
          } catch (...) {
            failures.take(*rank);
          }
        });
      } catch (...) {  // no more threads to be had
        failures.take(*communicator);
        break;
      }
    }
  }
  failures.rethrow();
}

}  // namespace scantling
