// What the verifier refuses, one fault at a time put into a sound program.
#include "scantling/program/verify.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/data/data_files.h"
#include "tests/program/contexts.h"

namespace scantling {
namespace {

using test::find;
using test::three_blocks;

std::string fault_of(const PassContext& context, const std::function<void(Program&)>& change) {
  auto program = compile(context);
  change(program);
  return failure_of<std::logic_error>([&] { verify(program, context); });
}

// The fault after the instruction that reads `text` is taken out.
std::string fault_without(const std::string& text, PassContext context = three_blocks()) {
  return fault_of(context, [&](Program& program) {
    const auto at = find(program, context, text);
    ASSERT_LT(at, program.size()) << text;
    program.erase(program.begin() + static_cast<std::ptrdiff_t>(at));
  });
}

void expect_part(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << "\"" << part << "\" is missing in \"" << message << "\"";
}

TEST(Verify, ADroppedGatherIsRefusedAtTheBlockThatNeedsIt) {
  auto context = three_blocks();
  const auto message =
      fault_of(context, [&](Program& program) { std::erase_if(program, [](const Instruction& i) { return i.unit == 1; }); });
  expect_part(message, "a unit of the block is not gathered");
  expect_part(message, "forward b micro-batch 0");
}

TEST(Verify, AReleaseBeforeTheUseIsRefused) {
  auto context = three_blocks();
  const auto message = fault_of(context, [&](Program& program) {
    const auto use = find(program, context, "forward b micro-batch 0");
    std::swap(program[use], program[use + 1]);
  });
  expect_part(message, "a unit of the block is not gathered");
}

TEST(Verify, AUnitLeftGatheredIsRefused) { expect_part(fault_without("release unit ua"), "gathered already"); }

TEST(Verify, AGatherThatIsNotWaitedForIsRefused) {
  expect_part(fault_without("gather_wait unit ub"), "a unit of the block is not gathered");
}

TEST(Verify, AWaitWithoutAStartIsRefused) { expect_part(fault_without("gather_start unit ub"), "not started"); }

TEST(Verify, AMissingReductionIsRefused) {
  const auto message = fault_of(three_blocks(), [](Program& program) {
    std::erase_if(program, [](const Instruction& i) {
      return i.block == 1 && (i.operation == Operation::reduce_start || i.operation == Operation::reduce_wait);
    });
  });
  expect_part(message, "a gradient is not reduced yet");
}

TEST(Verify, AReductionThatIsNotWaitedForIsRefused) {
  expect_part(fault_without("reduce_wait b micro-batch 0"), "a gradient is not reduced yet");
}

TEST(Verify, AReductionWithoutABackwardIsRefused) { expect_part(fault_without("backward a micro-batch 0"), "no gradients to reduce"); }

TEST(Verify, AnUpdateTwiceIsRefused) {
  const auto message = fault_of(three_blocks(), [](Program& program) { program.push_back(program.back()); });
  expect_part(message, "updated twice");
  expect_part(message, "update a");
}

TEST(Verify, AMissingUpdateIsRefused) { expect_part(fault_without("update b"), "a trained block is never updated"); }

TEST(Verify, AnUpdateBeforeTheNormIsRefused) {
  auto context = three_blocks();
  const auto message = fault_of(
      context, [&](Program& program) { std::swap(program[find(program, context, "norm")], program[find(program, context, "update c")]); });
  expect_part(message, "updated before the norm is known");
}

TEST(Verify, AnUpdateBeforeTheLastMicroBatchIsRefused) {
  auto context = three_blocks();
  context.deferred_update = false;
  context.micro_batches = 2;
  const auto message = fault_of(context, [&](Program& program) {
    const auto update = program.begin() + static_cast<std::ptrdiff_t>(find(program, context, "update b"));
    const auto early = program.begin() + static_cast<std::ptrdiff_t>(find(program, context, "unload micro-batch 0"));
    std::rotate(early, update, update + 1);
  });
  expect_part(message, "not every micro-batch's gradient is reduced");
}

TEST(Verify, ALostBlockIsRefused) {
  expect_part(fault_without("forward b micro-batch 0"), "the block before has not run");
  auto context = three_blocks();
  context.training = false;
  expect_part(fault_without("forward b micro-batch 0 unkept", context), "the block before has not run");
}

TEST(Verify, ALostLastBlockIsRefusedInTraining) {
  auto context = three_blocks();
  context.block_backward = context.block_reduces = context.block_updates = {false, false, false};
  expect_part(fault_without("forward c micro-batch 0 unkept", context), "a block does not run in every micro-batch");
}

TEST(Verify, BackwardTwiceIsRefused) {
  auto context = three_blocks();
  const auto message = fault_of(context, [&](Program& program) {
    const auto at = program.begin() + static_cast<std::ptrdiff_t>(find(program, context, "backward b micro-batch 0"));
    program.insert(at, *at);
  });
  expect_part(message, "its forward kept nothing");
}

TEST(Verify, AForwardWithoutItsBackwardIsRefused) {
  auto context = three_blocks();
  context.block_reduces[0] = context.block_updates[0] = false;
  expect_part(fault_without("backward a micro-batch 0", context), "a block's forward is never followed by its backward");
}

TEST(Verify, AMissingRecomputeIsRefused) {
  auto context = three_blocks();
  context.recompute = true;
  expect_part(fault_without("recompute b micro-batch 0", context), "its forward kept nothing");
}

TEST(Verify, AMicroBatchThatIsNotLoadedOrNeverUnloadedIsRefused) {
  expect_part(fault_without("load micro-batch 0"), "its micro-batch is not loaded");
  expect_part(fault_without("unload micro-batch 0"), "a micro-batch is still loaded at the end");
}

TEST(Verify, UncombinedGradientsAreRefused) {
  auto context = three_blocks();
  context.combines = true;
  expect_part(fault_without("combine_wait b", context), "its gradients are not combined");
}

TEST(Verify, AMissingNormIsRefused) {
  auto context = three_blocks();
  context.deferred_update = false;
  expect_part(fault_without("norm", context), "there is no norm");
}

TEST(Verify, EveryCombinationThatCompilesIsSound) {
  for (int bits = 0; bits < 64; bits++) {
    auto context = three_blocks();
    context.recompute = bits & 1;
    context.deferred_update = bits & 2;
    context.combines = bits & 4;
    context.micro_batches = bits & 8 ? 3 : 1;
    context.prefetch = bits & 16 ? 2 : 0;
    if (bits & 32) context.units_of_block = {{0}, {1}, {0, 2}};
    EXPECT_NO_THROW(compile(context)) << bits;
  }
}

TEST(VerifyTogether, EqualCommunicationPasses) {
  const auto context = three_blocks();
  const auto program = compile(context);
  EXPECT_NO_THROW(verify_together({program, program, program}, context.names));
  EXPECT_NO_THROW(verify_together({}, context.names));
}

TEST(VerifyTogether, ADifferentOrderIsNamed) {
  const auto context = three_blocks();
  auto program = compile(context), other = program;
  std::swap(other[find(other, context, "gather_start unit ua")], other[find(other, context, "gather_start unit ub")]);
  const auto message = failure_of<std::logic_error>([&] { verify_together({program, program, other}, context.names); });
  expect_part(message, "rank 0 has gather_start unit ua");
  expect_part(message, "rank 2 has gather_start unit ub");
}

TEST(VerifyTogether, AMissingCollectiveAtTheEndIsNamed) {
  const auto context = three_blocks();
  const auto program = compile(context);
  auto shorter = program;
  shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(find(shorter, context, "norm")));
  const auto message = failure_of<std::logic_error>([&] { verify_together({program, shorter}, context.names); });
  expect_part(message, "rank 1 communicates");
}

}  // namespace
}  // namespace scantling
