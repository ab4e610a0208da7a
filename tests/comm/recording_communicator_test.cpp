#include "scantling/comm/recording_communicator.h"

#include <gtest/gtest.h>

#include "scantling/core/error.h"

namespace scantling {
namespace {

TEST(RecordingCommunicator, RemembersEachCallWithoutBuffers) {
  const auto log = std::make_shared<CommunicationLog>();
  const auto comm = make_recording_communicator(1, 2, log);
  comm->set_context("Gather layer 3");
  comm->all_gather({{nullptr, nullptr, {3, 2}}, {nullptr, nullptr, {1, 0}}}, DType::bfloat16).wait();
  comm->set_context("");
  comm->reduce_scatter({{nullptr, {3, 2}, nullptr, false, {}}}, DType::float32).wait();
  comm->all_reduce(nullptr, 4, DType::float64, ReduceOperation::max).wait();
  comm->all_to_all(nullptr, {1, 2}, nullptr, {3, 2}, DType::int32).wait();
  comm->broadcast(nullptr, 5, DType::int64, 0).wait();
  comm->send(nullptr, 6, DType::bfloat16, 0).wait();
  comm->recv(nullptr, 7, DType::bfloat16, 0).wait();
  comm->barrier().wait();
  const std::vector<Rank> both{0, 1};
  const CommunicationLog expected{
      {"all_gather", both, DType::bfloat16, {3, 2, 1, 0}, 12, -1, "Gather layer 3"},
      {"reduce_scatter", both, DType::float32, {3, 2}, 20, -1, ""},
      {"all_reduce", both, DType::float64, {4}, 32, -1, ""},
      {"all_to_all", both, DType::int32, {1, 2, 3, 2}, 32, -1, ""},
      {"broadcast", both, DType::int64, {5}, 40, 0, ""},
      {"send", both, DType::bfloat16, {6}, 12, 0, ""},
      {"recv", both, DType::bfloat16, {7}, 14, 0, ""},
      {"barrier", both, DType::uint8, {}, 0, -1, ""},
  };
  EXPECT_EQ(*log, expected);
}

TEST(RecordingCommunicator, SubgroupsWriteGlobalRanksIntoTheSameLog) {
  const auto log = std::make_shared<CommunicationLog>();
  const auto comm = make_recording_communicator(6, 8, log);
  const auto group = comm->subgroup({2, 6, 4});
  EXPECT_EQ(group->rank(), 1);
  EXPECT_EQ(group->size(), 3);
  group->send(nullptr, 1, DType::float32, 2).wait();
  group->subgroup({1, 0})->barrier().wait();
  ASSERT_EQ(log->size(), 2U);
  EXPECT_EQ((*log)[0].members, (std::vector<Rank>{2, 6, 4}));
  EXPECT_EQ((*log)[0].peer, 4);
  EXPECT_EQ((*log)[1].members, (std::vector<Rank>{6, 2}));
}

TEST(RecordingCommunicator, RefusesWhatARealGroupRefuses) {
  const auto comm = make_recording_communicator(0, 2, std::make_shared<CommunicationLog>());
  EXPECT_THROW(comm->all_gather({{nullptr, nullptr, {1}}}, DType::float32), std::logic_error);
  EXPECT_THROW(comm->all_reduce(nullptr, 1, DType::float16, ReduceOperation::sum), std::logic_error);
  EXPECT_THROW(comm->subgroup({1}), std::logic_error);
  comm->abort("no such block");
  EXPECT_THROW(comm->barrier(), CommError);
}

}  // namespace
}  // namespace scantling
