// The schedule and the passes of compile.h, in the order they run. Each has its own file, whose head says what it adds per step.
#pragma once

#include "scantling/program/compile.h"

namespace scantling {

Program schedule_single(const PassContext& context);
void recompute_pass(Program& program, const PassContext& context);
void shard_pass(Program& program, const PassContext& context);
void update_pass(Program& program, const PassContext& context);
void prefetch_pass(Program& program, const PassContext& context);

}  // namespace scantling
