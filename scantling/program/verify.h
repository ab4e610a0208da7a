// Proves, before anything is allocated, that a program can run: what an instruction uses is there, nothing is dropped twice or left
// behind, every trained parameter is reduced once per micro-batch and updated once. A fault is ours, so it is reported as such, with the
// instruction and its number.
#pragma once

#include <vector>

#include "scantling/program/compile.h"

namespace scantling {

// One rank's program. Throws std::logic_error through check().
void verify(const Program& program, const PassContext& context);

// The programs of ranks that communicate: the same communication in the same order on all of them.
void verify_together(const std::vector<Program>& programs, const ProgramNames& names);

}  // namespace scantling
