// Every collective, for every small group size, with uneven and zero counts, against values computed from indices.
#include <gtest/gtest.h>

#include <numeric>

#include "scantling/comm/run_ranks.h"

namespace scantling {
namespace {

using Counts = std::vector<int64_t>;

class Collectives : public testing::TestWithParam<int> {
 protected:
  int size() const { return GetParam(); }
  Counts uneven() const {
    Counts counts;
    for (int64_t rank = 0; rank < size(); ++rank) counts.push_back((rank * 3 + 2) % 5);
    return counts;
  }
};

int64_t sum(const Counts& counts) { return std::accumulate(counts.begin(), counts.end(), int64_t{0}); }
int64_t before(const Counts& counts, int rank) { return std::accumulate(counts.begin(), counts.begin() + rank, int64_t{0}); }

std::vector<int32_t> iota(int64_t count, int32_t first = 0) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_P(Collectives, GatherPutsPartsInRankOrder) {
  const Counts counts = uneven();
  run_ranks(size(), [&](Communicator& comm) {
    const auto mine = iota(counts[static_cast<size_t>(comm.rank())], static_cast<int32_t>(before(counts, comm.rank())));
    std::vector<int32_t> whole(static_cast<size_t>(sum(counts)), -1);
    comm.all_gather({{mine.data(), whole.data(), counts}}, DType::int32).wait();
    EXPECT_EQ(whole, iota(sum(counts))) << "rank " << comm.rank();
  });
}

TEST_P(Collectives, GatherInPlaceOfManyPieces) {
  const Counts counts = uneven();
  run_ranks(size(), [&](Communicator& comm) {
    std::vector<std::vector<int32_t>> wholes(9, std::vector<int32_t>(static_cast<size_t>(sum(counts)), -1));
    std::vector<GatherPiece> pieces;
    for (auto& whole : wholes) {
      int32_t* mine = whole.data() + before(counts, comm.rank());
      std::iota(mine, mine + counts[static_cast<size_t>(comm.rank())], static_cast<int32_t>(before(counts, comm.rank())));
      pieces.push_back({mine, whole.data(), counts});
    }
    comm.all_gather(pieces, DType::int32).wait();
    for (const auto& whole : wholes) EXPECT_EQ(whole, iota(sum(counts))) << "rank " << comm.rank();
  });
}

TEST_P(Collectives, GatherIntoOneSharedBuffer) {
  const Counts counts = uneven();
  for (const bool in_place : {true, false}) {
    std::vector<int32_t> whole(static_cast<size_t>(sum(counts)), -1);
    run_ranks(size(), [&](Communicator& comm) {
      int32_t* place = whole.data() + before(counts, comm.rank());
      const auto mine = iota(counts[static_cast<size_t>(comm.rank())], static_cast<int32_t>(before(counts, comm.rank())));
      if (in_place) std::copy(mine.begin(), mine.end(), place);
      comm.all_gather({{in_place ? place : mine.data(), whole.data(), counts}}, DType::int32).wait();
      EXPECT_EQ(whole, iota(sum(counts))) << "rank " << comm.rank();
      comm.barrier().wait();
    });
  }
}

TEST_P(Collectives, GatherWhereSomeRanksShare) {
  const Counts counts = uneven();
  std::vector<int32_t> shared(static_cast<size_t>(sum(counts)), -1);
  run_ranks(size(), [&](Communicator& comm) {
    const auto mine = iota(counts[static_cast<size_t>(comm.rank())], static_cast<int32_t>(before(counts, comm.rank())));
    std::vector<int32_t> own(shared.size(), -1);
    std::vector<int32_t>& whole = comm.rank() < 2 ? shared : own;
    comm.all_gather({{mine.data(), whole.data(), counts}}, DType::int32).wait();
    EXPECT_EQ(whole, iota(sum(counts))) << "rank " << comm.rank();
  });
}

TEST_P(Collectives, AllReduceSmallAndLarge) {
  for (const int64_t count : {0, 1, 5, 8192, 8193, 100003}) {
    run_ranks(size(), [&](Communicator& comm) {
      std::vector<int64_t> sums(static_cast<size_t>(count));
      for (size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<int64_t>(i) * (comm.rank() + 1);
      std::vector<double> maxima(sums.begin(), sums.end());
      auto first = comm.all_reduce(sums.data(), count, DType::int64, ReduceOperation::sum);
      comm.all_reduce(maxima.data(), count, DType::float64, ReduceOperation::max).wait();
      first.wait();
      for (size_t i = 0; i < sums.size(); ++i) {
        ASSERT_EQ(sums[i], static_cast<int64_t>(i) * size() * (size() + 1) / 2) << "rank " << comm.rank() << " index " << i;
        ASSERT_EQ(maxima[i], static_cast<double>(i) * size()) << "rank " << comm.rank() << " index " << i;
      }
    });
  }
}

TEST_P(Collectives, AllToAllExchangesUnevenParts) {
  const auto sent = [](int from, int to) { return static_cast<int64_t>((from + 2 * to) % 3); };
  run_ranks(size(), [&](Communicator& comm) {
    Counts send_counts;
    Counts recv_counts;
    std::vector<int32_t> send;
    std::vector<int32_t> expected;
    for (int peer = 0; peer < size(); ++peer) {
      send_counts.push_back(sent(comm.rank(), peer));
      recv_counts.push_back(sent(peer, comm.rank()));
      send.insert(send.end(), static_cast<size_t>(send_counts.back()), comm.rank() * 100 + peer);
      expected.insert(expected.end(), static_cast<size_t>(recv_counts.back()), peer * 100 + comm.rank());
    }
    std::vector<int32_t> received(expected.size(), -1);
    comm.all_to_all(send.data(), send_counts, received.data(), recv_counts, DType::int32).wait();
    EXPECT_EQ(received, expected) << "rank " << comm.rank();
  });
}

TEST_P(Collectives, BroadcastFromEveryRoot) {
  run_ranks(size(), [&](Communicator& comm) {
    for (int root = 0; root < size(); ++root) {
      auto values = comm.rank() == root ? iota(7, root) : std::vector<int32_t>(7, -1);
      comm.broadcast(values.data(), 7, DType::int32, root).wait();
      EXPECT_EQ(values, iota(7, root)) << "rank " << comm.rank() << " root " << root;
    }
    comm.broadcast(nullptr, 0, DType::float32, 0).wait();
  });
}

TEST_P(Collectives, SendAroundARing) {
  run_ranks(size(), [&](Communicator& comm) {
    const int next = (comm.rank() + 1) % size();
    const int previous = (comm.rank() + size() - 1) % size();
    const auto out = iota(5, comm.rank() * 10);
    std::vector<int32_t> in(5, -1);
    auto sending = comm.send(out.data(), 5, DType::int32, next);
    auto receiving = comm.recv(in.data(), 5, DType::int32, previous);
    sending.wait();
    receiving.wait();
    EXPECT_EQ(in, iota(5, previous * 10)) << "rank " << comm.rank();
  });
}

TEST_P(Collectives, ManyOutstandingWaitedInDifferentOrders) {
  run_ranks(size(), [&](Communicator& comm) {
    constexpr size_t operations = 6;
    std::vector<std::vector<double>> buffers(operations);
    std::vector<Work> works;
    for (size_t i = 0; i < operations; ++i) {
      buffers[i].assign(i % 2 == 0 ? 3 : 20000, static_cast<double>(comm.rank() + 1) * static_cast<double>(i + 1));
      works.push_back(comm.all_reduce(buffers[i].data(), static_cast<int64_t>(buffers[i].size()), DType::float64, ReduceOperation::sum));
    }
    for (size_t i = 0; i < operations; ++i) works[(i + static_cast<size_t>(comm.rank())) % operations].wait();
    const double ranks = size() * (size() + 1) / 2.0;
    for (size_t i = 0; i < operations; ++i) {
      EXPECT_EQ(buffers[i], std::vector<double>(buffers[i].size(), ranks * static_cast<double>(i + 1))) << comm.rank() << " " << i;
    }
  });
}

TEST_P(Collectives, WaitingForTheSendBeforeTheRecvOnBothSides) {
  run_ranks(size(), [&](Communicator& comm) {
    std::vector<Work> sends;
    std::vector<Work> recvs;
    std::vector<int32_t> in(static_cast<size_t>(size()), -1);
    const int32_t own = comm.rank();
    for (int peer = 0; peer < size(); ++peer) sends.push_back(comm.send(&own, 1, DType::int32, peer));
    for (int peer = 0; peer < size(); ++peer) recvs.push_back(comm.recv(&in[static_cast<size_t>(peer)], 1, DType::int32, peer));
    for (auto& work : sends) work.wait();
    for (auto& work : recvs) work.wait();
    EXPECT_EQ(in, iota(size())) << "rank " << comm.rank();
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Collectives, testing::Values(1, 2, 3, 4, 7));

TEST(Work, ThatIsEmptyIsComplete) {
  Work work;
  work.wait();
  work.wait();
}

}  // namespace
}  // namespace scantling
