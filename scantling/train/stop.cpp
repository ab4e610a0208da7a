#include "scantling/train/stop.h"

#include <csignal>
#include <initializer_list>

namespace scantling {
namespace {

volatile std::sig_atomic_t caught = 0;

void note(int signal) {
  caught = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

StopWatch::StopWatch() {
  caught = 0;
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, note);
}

StopWatch::~StopWatch() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
}

int StopWatch::signal() { return caught; }

}  // namespace scantling
