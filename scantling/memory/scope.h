// Whose memory is being used: a thread-local note that the allocators read. A rank's thread opens a MemoryScope with its ledger;
// threads without one (loading, tests of single layers) allocate uncounted.
#pragma once

#include <string_view>

#include "scantling/memory/ledger.h"

namespace scantling {

struct MemoryContext {
  Ledger* ledger = nullptr;  // not owned
  Category category = Category::activations;
  std::string_view tensor = "activation";  // label of what is allocated; must outlive the scope
  bool scratch = false;                    // inside a kernel
};

MemoryContext& memory_context();

// Replaces the thread's context until it ends.
class MemoryScope {
 public:
  MemoryScope(Ledger* ledger, Category category, std::string_view tensor) : before_(memory_context()) {
    memory_context() = {ledger, category, tensor, false};
  }
  ~MemoryScope() { memory_context() = before_; }
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

 private:
  MemoryContext before_;
};

// Opened where an operation makes a weight's gradient, so that it is booked as one from its first byte.
class GradientScope {
 public:
  GradientScope() : before_(memory_context().category) { memory_context().category = Category::gradients; }
  ~GradientScope() { memory_context().category = before_; }
  GradientScope(const GradientScope&) = delete;
  GradientScope& operator=(const GradientScope&) = delete;

 private:
  Category before_;
};

// While a kernel of LibTorch runs, what it allocates is scratch: it counts against the rank's workspace reservation and not against
// the ledger. Results are allocated before, and what a kernel returns is copied into them.
// `bound_bytes` is the most the kernel may need; planning takes the largest bound as the reservation.
class ScratchScope {
 public:
  explicit ScratchScope(int64_t bound_bytes) : before_(memory_context().scratch) {
    if (auto* ledger = memory_context().ledger) ledger->want_workspace(bound_bytes);
    memory_context().scratch = true;
  }
  ~ScratchScope() { memory_context().scratch = before_; }
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

 private:
  bool before_;
};

}  // namespace scantling
