// Ctrl-C and termination: noted by a signal handler, seen by every rank between two instructions.
#pragma once

#include "scantling/core/error.h"

namespace scantling {

// The run was asked to end. Exit status 130 (SIGINT) or 143 (SIGTERM).
class Interrupted : public Error {
 public:
  Interrupted(int signal, const std::string& what) : Error(what), signal_(signal) {}
  int signal() const { return signal_; }

 private:
  int signal_;
};

// Installs handlers for SIGINT and SIGTERM while it lives. A second signal ends the process at once.
class StopWatch {
 public:
  StopWatch();
  ~StopWatch();
  // The signal that came, or 0.
  static int signal();
};

}  // namespace scantling
