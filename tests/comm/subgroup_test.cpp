#include <gtest/gtest.h>

#include <atomic>

#include "scantling/comm/run_ranks.h"
#include "scantling/core/error.h"

namespace scantling {
namespace {

double sum_over(Communicator& comm, double value) {
  comm.all_reduce(&value, 1, DType::float64, ReduceOperation::sum).wait();
  return value;
}

TEST(Subgroup, RanksFollowTheListGiven) {
  run_ranks(4, [](Communicator& comm) {
    if (comm.rank() == 1) return;
    const std::vector<Rank> members{3, 0, 2};
    const auto group = comm.subgroup(members);
    EXPECT_EQ(group->size(), 3);
    EXPECT_EQ(members[static_cast<size_t>(group->rank())], comm.rank());
    std::vector<int32_t> whole(3);
    const int32_t own = comm.rank();
    group->all_gather({{&own, whole.data(), {1, 1, 1}}}, DType::int32).wait();
    EXPECT_EQ(whole, (std::vector<int32_t>{3, 0, 2})) << "rank " << comm.rank();
  });
}

TEST(Subgroup, RowsAndColumnsOfAGridWorkAtOnce) {
  run_ranks(4, [](Communicator& comm) {
    const Rank row = comm.rank() / 2;
    const Rank column = comm.rank() % 2;
    const auto along_row = comm.subgroup({row * 2, row * 2 + 1});
    const auto along_column = comm.subgroup({column, column + 2});
    double in_row = comm.rank();
    double in_column = comm.rank();
    auto first = along_row->all_reduce(&in_row, 1, DType::float64, ReduceOperation::sum);
    auto second = along_column->all_reduce(&in_column, 1, DType::float64, ReduceOperation::sum);
    (comm.rank() % 2 == 0 ? first : second).wait();
    (comm.rank() % 2 == 0 ? second : first).wait();
    EXPECT_EQ(in_row, 4.0 * row + 1) << "rank " << comm.rank();
    EXPECT_EQ(in_column, 2.0 * column + 2) << "rank " << comm.rank();
  });
}

TEST(Subgroup, OfASubgroupAndOfTheSameMembersTwice) {
  run_ranks(4, [](Communicator& comm) {
    const auto same = comm.subgroup({0, 1, 2, 3});
    const auto again = comm.subgroup({0, 1, 2, 3});
    EXPECT_EQ(sum_over(*same, 1), 4);
    EXPECT_EQ(sum_over(*again, 2), 8);
    const auto inner = same->subgroup(comm.rank() % 2 == 0 ? std::vector<Rank>{2, 0} : std::vector<Rank>{1, 3});
    EXPECT_EQ(sum_over(*inner, comm.rank()), comm.rank() % 2 == 0 ? 2 : 4);
  });
}

TEST(Subgroup, OfOneIsTheIdentity) {
  run_ranks(2, [](Communicator& comm) {
    const auto alone = comm.subgroup({comm.rank()});
    EXPECT_EQ(sum_over(*alone, comm.rank()), comm.rank());
    alone->barrier().wait();
  });
}

TEST(Subgroup, SendsNameRanksOfTheSubgroup) {
  run_ranks(3, [](Communicator& comm) {
    if (comm.rank() == 1) return;
    const auto pair = comm.subgroup({2, 0});
    float value = comm.rank() == 2 ? 5.0F : 0.0F;
    if (pair->rank() == 0) pair->send(&value, 1, DType::float32, 1).wait();
    if (pair->rank() == 1) pair->recv(&value, 1, DType::float32, 0).wait();
    EXPECT_EQ(value, 5.0F);
  });
}

struct CountingObserver : WaitObserver {
  void will_block() override { ++blocks; }
  void did_block() override { ++returns; }
  std::atomic<int> blocks = 0;
  std::atomic<int> returns = 0;
};

TEST(WaitObserver, HearsOfEverySleepAndOfFewOfThem) {
  CountingObserver observer;
  constexpr int rounds = 200;
  run_ranks(4,
            [](Communicator& comm) {
              std::vector<float> whole(36);
              std::vector<GatherPiece> pieces;
              for (size_t piece = 0; piece < 9; ++piece)
                pieces.push_back({whole.data() + piece * 4 + comm.rank(), whole.data() + piece * 4, {1, 1, 1, 1}});
              for (int round = 0; round < rounds; ++round) comm.all_gather(pieces, DType::float32).wait();
            },
            {std::chrono::milliseconds(60000), &observer});
  EXPECT_EQ(observer.blocks, observer.returns);
  EXPECT_GT(observer.blocks, 0);
  EXPECT_LE(observer.blocks, 4 * rounds * 2);
}

}  // namespace
}  // namespace scantling
