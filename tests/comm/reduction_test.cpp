// Sums must equal a sequential sum in rank order bit for bit, whatever the type, the chunking and the number of ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "scantling/comm/reduce_kernels.h"
#include "scantling/comm/run_ranks.h"
#include "scantling/core/random.h"

namespace scantling {
namespace {

using Counts = std::vector<int64_t>;

// Contributions of one rank, as they travel and as float32.
struct Contribution {
  Contribution(int rank, int64_t count, DType type) : dtype(type), values(static_cast<size_t>(count)), raw(values.size() * 4) {
    fill_normal(1, static_cast<uint64_t>(rank), 0, values, 1.0F);
    convert(values.data(), DType::float32, raw.data(), dtype, count);
    convert(raw.data(), dtype, values.data(), DType::float32, count);
  }
  DType dtype;
  std::vector<float> values;
  std::vector<std::byte> raw;
};

std::vector<float> sequential_sum(int ranks, int64_t count, DType dtype, float start) {
  std::vector<float> sums(static_cast<size_t>(count), start);
  for (int rank = 0; rank < ranks; ++rank) {
    const Contribution contribution(rank, count, dtype);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += contribution.values[i];
  }
  return sums;
}

std::vector<float> slice(const std::vector<float>& values, const Counts& counts, int rank) {
  const auto begin = values.begin() + std::accumulate(counts.begin(), counts.begin() + rank, int64_t{0});
  return {begin, begin + counts[static_cast<size_t>(rank)]};
}

class Reductions : public testing::TestWithParam<std::tuple<int, DType>> {
 protected:
  int size() const { return std::get<0>(GetParam()); }
  DType dtype() const { return std::get<1>(GetParam()); }
  Counts counts() const {
    Counts counts;
    for (int64_t rank = 0; rank < size(); ++rank) counts.push_back(rank == 1 ? 0 : 16384 * 2 - 5 + 7 * rank);
    return counts;
  }
  int64_t total() const {
    const Counts all = counts();
    return std::accumulate(all.begin(), all.end(), int64_t{0});
  }
};

TEST_P(Reductions, EqualTheSequentialSumInRankOrder) {
  const auto expected = sequential_sum(size(), total(), dtype(), 0.0F);
  run_ranks(size(), [&](Communicator& comm) {
    const Contribution own(comm.rank(), total(), dtype());
    const auto expected_part = slice(expected, counts(), comm.rank());
    std::vector<float> sums(expected_part.size(), -1.0F);
    comm.reduce_scatter({{own.raw.data(), counts(), sums.data(), false, {}}}, dtype()).wait();
    EXPECT_TRUE(sums == expected_part) << "rank " << comm.rank();
  });
}

TEST_P(Reductions, AccumulateStartsFromTheOldSums) {
  const auto expected = sequential_sum(size(), total(), dtype(), 0.1F);
  run_ranks(size(), [&](Communicator& comm) {
    const Contribution own(comm.rank(), total(), dtype());
    const auto expected_part = slice(expected, counts(), comm.rank());
    std::vector<float> sums(expected_part.size(), 0.1F);
    comm.reduce_scatter({{own.raw.data(), counts(), sums.data(), true, {}}}, dtype()).wait();
    EXPECT_TRUE(sums == expected_part) << "rank " << comm.rank();
  });
}

TEST_P(Reductions, FinishedGetsEverySumOnceInOrder) {
  const auto expected = sequential_sum(size(), total(), dtype(), 0.0F);
  run_ranks(size(), [&](Communicator& comm) {
    const Contribution own(comm.rank(), total(), dtype());
    std::vector<float> seen;
    const auto thread = std::this_thread::get_id();
    const std::function<void(int64_t, const float*, int64_t)> finished = [&](int64_t begin, const float* sums, int64_t count) {
      EXPECT_EQ(begin, static_cast<int64_t>(seen.size()));
      EXPECT_EQ(std::this_thread::get_id(), thread);
      seen.insert(seen.end(), sums, sums + count);
    };
    comm.reduce_scatter({{own.raw.data(), counts(), nullptr, false, {}, 1, finished}}, dtype()).wait();
    EXPECT_TRUE(seen == slice(expected, counts(), comm.rank())) << "rank " << comm.rank();
  });
}

INSTANTIATE_TEST_SUITE_P(SizesAndTypes, Reductions,
                         testing::Combine(testing::Values(1, 2, 3, 4, 7), testing::Values(DType::float32, DType::bfloat16, DType::float16)),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) + "_" + std::string(name_of(std::get<1>(info.param)));
                         });

TEST(ReduceScatter, InPlaceInsideItsOwnWhole) {
  const Counts counts{20000, 3, 17000};
  const auto expected = sequential_sum(3, 37003, DType::float32, 0.0F);
  run_ranks(3, [&](Communicator& comm) {
    Contribution own(comm.rank(), 37003, DType::float32);
    float* part = own.values.data() + std::accumulate(counts.begin(), counts.begin() + comm.rank(), int64_t{0});
    comm.reduce_scatter({{own.values.data(), counts, part, false, {}}}, DType::float32).wait();
    const auto sums = slice(own.values, counts, comm.rank());
    EXPECT_TRUE(sums == slice(expected, counts, comm.rank())) << "rank " << comm.rank();
  });
}

TEST(ReduceScatter, TakesPartsWhereTheyBegin) {
  run_ranks(2, [](Communicator& comm) {
    const std::vector<float> whole = comm.rank() == 0 ? std::vector<float>{9, 1, 2, 9, 3} : std::vector<float>{30, 9, 10, 20, 9};
    const Counts begins = comm.rank() == 0 ? Counts{1, 4} : Counts{2, 0};
    std::vector<float> sums(comm.rank() == 0 ? 2 : 1);
    comm.reduce_scatter({{whole.data(), {2, 1}, sums.data(), false, begins, 1, {}}}, DType::float32).wait();
    EXPECT_EQ(sums, comm.rank() == 0 ? (std::vector<float>{11, 22}) : std::vector<float>{33}) << "rank " << comm.rank();
  });
}

TEST(ReduceScatter, ChunksAreMultiplesOfTheGranularity) {
  for (const int64_t granularity : {1, 576, 16384, 40000}) {
    run_ranks(2, [&](Communicator& comm) {
      const std::vector<float> whole(static_cast<size_t>(granularity) * 5, 1.0F);
      int64_t seen = 0;
      const std::function<void(int64_t, const float*, int64_t)> finished = [&](int64_t begin, const float* sums, int64_t count) {
        EXPECT_EQ(begin, seen);
        EXPECT_EQ(count % granularity, 0);
        EXPECT_EQ(std::count(sums, sums + count, 2.0F), count);
        seen += count;
      };
      comm.reduce_scatter({{whole.data(), {granularity * 3, granularity * 2}, nullptr, false, {}, granularity, finished}}, DType::float32)
          .wait();
      EXPECT_EQ(seen, granularity * (comm.rank() == 0 ? 3 : 2));
    });
  }
}

TEST(ReduceScatter, SmallContributionsInBfloat16AreNotLost) {
  run_ranks(2, [](Communicator& comm) {
    float sum = 0.0F;
    for (const float value : {256.0F, 1.0F, 1.0F, 1.0F, 1.0F}) {
      const bool last_of_rank_1 = comm.rank() == 1 && value == 256.0F;  // nine gradients over two ranks: 5 and 4
      const uint16_t gradient = float_to_bfloat16(last_of_rank_1 ? 0.0F : value);
      comm.reduce_scatter({{&gradient, {1, 0}, &sum, true, {}}}, DType::bfloat16).wait();
    }
    EXPECT_EQ(sum, comm.rank() == 0 ? 264.0F : 0.0F);
  });
}

TEST(ReduceScatter, OutstandingAccumulationsKeepTheirOrder) {
  run_ranks(3, [](Communicator& comm) {
    std::vector<std::vector<float>> gradients;
    std::vector<Work> works;
    float sum = 0.0F;
    const float scales[] = {1e8F, 3.3F, -1e8F, 0.7F};
    for (const float scale : scales) gradients.push_back({scale * static_cast<float>(comm.rank() + 1), 0.0F, 0.0F});
    for (const auto& gradient : gradients)
      works.push_back(comm.reduce_scatter({{gradient.data(), {1, 1, 1}, &sum, true, {}}}, DType::float32));
    if (comm.rank() == 0) works.back().wait();
    for (auto& work : works) work.wait();
    float expected = 0.0F;
    for (const float scale : scales) {
      for (int rank = 0; rank < 3; ++rank) expected += scale * static_cast<float>(rank + 1);
    }
    EXPECT_EQ(sum, comm.rank() == 0 ? expected : 0.0F);
  });
}

TEST(AllReduce, HasTheSameBitsOnAllRanksInRankOrder) {
  for (const int64_t count : {1000, 50021}) {
    std::vector<float> expected = Contribution(0, count, DType::float32).values;
    for (int rank = 1; rank < 4; ++rank) {
      const Contribution other(rank, count, DType::float32);
      for (size_t i = 0; i < expected.size(); ++i) expected[i] += other.values[i];
    }
    run_ranks(4, [&](Communicator& comm) {
      auto values = Contribution(comm.rank(), count, DType::float32).values;
      comm.all_reduce(values.data(), count, DType::float32, ReduceOperation::sum).wait();
      EXPECT_TRUE(values == expected) << "rank " << comm.rank();
    });
  }
}

TEST(Combine, MaximumKeepsNaN) {
  const float nan = std::nanf("");
  float into[] = {nan, 1.0F, 1.0F, -2.0F};
  const float from[] = {1.0F, nan, 2.0F, -3.0F};
  combine(into, from, 4, DType::float32, ReduceOperation::max);
  EXPECT_TRUE(std::isnan(into[0]));
  EXPECT_TRUE(std::isnan(into[1]));
  EXPECT_EQ(into[2], 2.0F);
  EXPECT_EQ(into[3], -2.0F);
}

}  // namespace
}  // namespace scantling
