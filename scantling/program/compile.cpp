#include "scantling/program/compile.h"

#include "scantling/program/passes.h"
#include "scantling/program/verify.h"

namespace scantling {

Program compile(const PassContext& context) {
  Program program = schedule_single(context);
  recompute_pass(program, context);
  shard_pass(program, context);
  update_pass(program, context);
  prefetch_pass(program, context);
  verify(program, context);
  return program;
}

}  // namespace scantling
