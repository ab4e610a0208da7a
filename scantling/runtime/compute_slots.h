// How many virtual devices compute at once. A rank that is about to wait for others gives its place up and takes one again before it goes
// on, so eight devices on two cores neither thrash nor hold eight sets of transients in the caches.
#pragma once

#include <semaphore>

#include "scantling/comm/thread_communicator.h"

namespace scantling {

class ComputeSlots : public WaitObserver {
 public:
  explicit ComputeSlots(int slots) : free_(slots) {}
  void will_block() override { free_.release(); }
  void did_block() override { free_.acquire(); }

  // Held by a rank's thread from its first instruction to its last.
  class Place {
   public:
    explicit Place(ComputeSlots& slots) : slots_(slots) { slots_.did_block(); }
    ~Place() { slots_.will_block(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    ComputeSlots& slots_;
  };

 private:
  std::counting_semaphore<> free_;
};

}  // namespace scantling
