// The schedule and each pass, on three blocks.
#include <gtest/gtest.h>

#include "tests/program/contexts.h"

namespace scantling {
namespace {

using test::count;
using test::find;
using test::lines;
using test::three_blocks;
using Lines = std::vector<std::string>;

TEST(Schedule, ForwardThenBackwardForEachMicroBatch) {
  auto context = three_blocks();
  context.micro_batches = 2;
  const Lines once{"load micro-batch 0",       "forward a micro-batch 0",  "forward b micro-batch 0",  "forward c micro-batch 0",
                   "backward c micro-batch 0", "backward b micro-batch 0", "backward a micro-batch 0", "unload micro-batch 0"};
  const auto program = lines(schedule_single(context), context);
  ASSERT_EQ(program.size(), 16u);
  EXPECT_EQ(Lines(program.begin(), program.begin() + 8), once);
  EXPECT_EQ(program[8], "load micro-batch 1");
}

TEST(Schedule, FrozenFirstBlocksKeepNothingAndHaveNoBackward) {
  auto context = three_blocks();
  context.block_backward = {false, false, true};
  EXPECT_EQ(lines(schedule_single(context), context),
            (Lines{"load micro-batch 0", "forward a micro-batch 0 unkept", "forward b micro-batch 0 unkept", "forward c micro-batch 0",
                   "backward c micro-batch 0", "unload micro-batch 0"}));
}

TEST(Schedule, EvaluationOnlyGoesForward) {
  auto context = three_blocks();
  context.training = false;
  const auto program = compile(context);
  EXPECT_EQ(count(program, Operation::forward), 3);
  for (const auto operation : {Operation::backward, Operation::reduce_start, Operation::norm, Operation::update})
    EXPECT_EQ(count(program, operation), 0);
}

TEST(RecomputePass, MiddleBlocksRunAgainRightBeforeTheirBackward) {
  auto context = three_blocks();
  context.recompute = true;
  auto program = schedule_single(context);
  recompute_pass(program, context);
  const auto at = find(program, context, "backward b micro-batch 0");
  EXPECT_EQ(lines(program, context)[at - 1], "recompute b micro-batch 0");
  EXPECT_EQ(count(program, Operation::recompute), 1) << "neither the first nor the last block";
  EXPECT_LT(find(program, context, "forward b micro-batch 0 unkept"), program.size());
}

TEST(RecomputePass, FrozenBlocksAreNotRunAgain) {
  auto context = three_blocks();
  context.recompute = true;
  context.block_backward = {false, false, true};
  auto program = schedule_single(context);
  recompute_pass(program, context);
  EXPECT_EQ(count(program, Operation::recompute), 0);
}

TEST(ShardPass, EachUseIsGatheredAndTheTurningPointSharesOne) {
  auto context = three_blocks();
  auto program = schedule_single(context);
  shard_pass(program, context);
  EXPECT_EQ(count(program, Operation::gather_start), 5) << "a, b, c forward (c is held over), b, a backward";
  EXPECT_EQ(count(program, Operation::gather_wait), count(program, Operation::release));
  EXPECT_EQ(count(program, Operation::reduce_start), 3);
  EXPECT_LT(find(program, context, "release unit ua"), find(program, context, "forward b micro-batch 0"));
}

TEST(ShardPass, WhatIsWholeAlreadyIsNotGathered) {
  auto context = three_blocks();
  context.unit_gathers = {false, true, false};
  auto program = schedule_single(context);
  shard_pass(program, context);
  EXPECT_EQ(count(program, Operation::gather_start), 2);
  EXPECT_EQ(find(program, context, "gather_start unit ua"), program.size());
}

TEST(ShardPass, AUnitSharedByNeighboursIsHeldBetweenThem) {
  auto context = three_blocks();
  context.units_of_block = {{0}, {0}, {0}};
  auto program = schedule_single(context);
  shard_pass(program, context);
  EXPECT_EQ(count(program, Operation::gather_start), 1);
  EXPECT_EQ(count(program, Operation::release), 1);
}

TEST(ShardPass, OnlyBlocksThatTrainAreReduced) {
  auto context = three_blocks();
  context.block_reduces = {false, true, false};
  auto program = schedule_single(context);
  shard_pass(program, context);
  EXPECT_EQ(count(program, Operation::reduce_start), 1);
}

TEST(UpdatePass, DeferredUpdatesFollowTheNorm) {
  auto context = three_blocks();
  context.micro_batches = 2;
  const auto program = compile(context);
  const auto norm = find(program, context, "norm");
  EXPECT_EQ(lines({program.begin() + static_cast<std::ptrdiff_t>(norm), program.end()}, context),
            (Lines{"norm", "update c", "update b", "update a"}));
  EXPECT_EQ(lines(program, context).front(), "count_labels");
}

TEST(UpdatePass, StreamedUpdatesFollowTheLastReduction) {
  auto context = three_blocks();
  context.micro_batches = 2;
  context.deferred_update = false;
  const auto program = compile(context);
  const auto reduced = find(program, context, "reduce_wait b micro-batch 1");
  EXPECT_EQ(lines(program, context)[reduced + 1], "update b");
  EXPECT_EQ(count(program, Operation::update), 3);
  EXPECT_EQ(program.back().operation, Operation::norm);
}

TEST(UpdatePass, ReplicasCombineBeforeTheyUpdate) {
  auto context = three_blocks();
  context.combines = true;
  const auto program = compile(context);
  const auto update = find(program, context, "update b");
  EXPECT_EQ(lines(program, context)[update - 1], "combine_wait b");
  EXPECT_EQ(count(program, Operation::combine_start), 3);
}

TEST(PrefetchPass, GathersStartOneComputationEarlier) {
  auto context = three_blocks();
  context.prefetch = 1;
  const auto program = compile(context);
  EXPECT_LT(find(program, context, "gather_start unit ub"), find(program, context, "forward a micro-batch 0"));
  EXPECT_GT(find(program, context, "gather_wait unit ub"), find(program, context, "forward a micro-batch 0"));
}

TEST(PrefetchPass, AddsNothingAndLosesNothing) {
  for (const bool deferred : {true, false})
    for (const int micro_batches : {1, 3})
      for (const int prefetch : {1, 2, 9}) {
        auto context = three_blocks();
        context.deferred_update = deferred;
        context.micro_batches = micro_batches;
        auto plain = lines(compile(context), context);
        context.prefetch = prefetch;
        auto early = lines(compile(context), context);
        std::sort(plain.begin(), plain.end());
        std::sort(early.begin(), early.end());
        EXPECT_EQ(plain, early) << "prefetch " << prefetch;
      }
}

TEST(PrefetchPass, NoGatherStartsBeforeAnUpdateThatWritesIt) {
  auto context = three_blocks();
  context.prefetch = 5;
  context.deferred_update = false;
  const auto program = compile(context);
  size_t last_update = 0, last_gather = 0;
  for (size_t i = 0; i < program.size(); i++) {
    if (program[i].operation == Operation::update) last_update = i;
    if (program[i].operation == Operation::gather_start) last_gather = i;
  }
  EXPECT_LT(last_gather, last_update);
}

TEST(ProgramText, ReadsBackTheSameProgram) {
  auto context = three_blocks();
  context.micro_batches = 2;
  context.recompute = true;
  context.combines = true;
  context.prefetch = 1;
  const auto program = compile(context);
  EXPECT_EQ(parse_program(to_text(program, context.names), context.names), program);
}

TEST(ProgramText, AFaultNamesItsLine) {
  const auto context = three_blocks();
  for (const std::string text : {"0 forward a micro-batch 0\n1 fly b\n", "0 forward a micro-batch 0\n1 forward z micro-batch 0\n"}) try {
      parse_program(text, context.names);
      FAIL() << "accepted: " << text;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
    }
}

TEST(ProgramText, NoLinesAreNoProgram) { EXPECT_TRUE(parse_program("\n  \n", three_blocks().names).empty()); }

}  // namespace
}  // namespace scantling
