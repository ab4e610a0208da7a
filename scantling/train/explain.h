// Where each parameter lies and why, and what a rank does: text for people, JSON for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "scantling/train/job.h"

namespace scantling {

// `pattern` empty: all parameters. ConfigError if it matches none.
std::string explain_text(const Job& job, const std::string& pattern);
nlohmann::ordered_json explain_json(const Job& job, const std::string& pattern);

// The training program, the same on every rank, one instruction a line.
std::string program_text(const Job& job);

}  // namespace scantling
