// Two families of errors. `Error`: someone can act on it; its text says what was found, what is needed and what to write instead.
// `check`: a broken promise inside Scantling; the message asks for a report. Library code throws and never prints or exits.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace scantling {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Wrong input: run file, option, model configuration. Exit status 2.
class ConfigError : public Error {
 public:
  using Error::Error;
};

// A file that is missing, damaged, or does not hold what was asked for. Exit status 2.
class CheckpointError : public Error {
 public:
  using Error::Error;
};

// Training or evaluation text that cannot be used. Exit status 2.
class DataError : public Error {
 public:
  using Error::Error;
};

// A collective that cannot complete: another rank died, stalled, or asked for something else. Exit status 1.
class CommError : public Error {
 public:
  using Error::Error;
};

// A device's budget does not hold what the program needs. Exit status 3.
class OutOfDeviceMemory : public Error {
 public:
  using Error::Error;
};

// Gathers every fault of a configuration, so that all are shown at once.
class Faults {
 public:
  void add(std::string fault) { faults_.push_back(std::move(fault)); }
  bool empty() const { return faults_.empty(); }
  const std::vector<std::string>& list() const { return faults_; }
  // Throws ConfigError with all faults, one paragraph each, if there is any.
  void throw_if_any() const;

 private:
  std::vector<std::string> faults_;
};

// Throws std::logic_error naming the place, with a request to report it, unless `condition` holds.
void check(bool condition, std::string_view what, std::source_location where = std::source_location::current());

}  // namespace scantling
