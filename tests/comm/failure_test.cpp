// However a group fails, every rank hears of it, with one cause that names who, what and where; nobody hangs.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>

#include "scantling/comm/run_ranks.h"
#include "scantling/core/error.h"

namespace scantling {
namespace {

const ThreadGroupOptions short_limit{.time_limit = std::chrono::milliseconds(50)};

// Runs `body` on all ranks and returns the messages of the CommErrors they ended with.
std::multiset<std::string> comm_errors(int size, const std::function<void(Communicator&)>& body, ThreadGroupOptions options = {}) {
  std::mutex mutex;
  std::multiset<std::string> messages;
  run_ranks(
      size,
      [&](Communicator& comm) {
        try {
          body(comm);
        } catch (const CommError& error) {
          const std::lock_guard lock(mutex);
          messages.insert(error.what());
        }
      },
      options);
  return messages;
}

void expect_one_message(const std::multiset<std::string>& messages, size_t ranks, const std::vector<std::string>& parts) {
  ASSERT_EQ(messages.size(), ranks);
  EXPECT_EQ(messages.count(*messages.begin()), ranks) << "messages differ";
  for (const auto& part : parts) EXPECT_NE(messages.begin()->find(part), std::string::npos) << part << " is not in: " << *messages.begin();
}

TEST(Mismatch, OfOperationsNamesBothRanksAndCalls) {
  const auto messages = comm_errors(3, [](Communicator& comm) {
    std::vector<float> buffer(12);
    comm.set_context(comm.rank() == 2 ? "Reduce layer 5" : "Gather layer 3");
    if (comm.rank() == 2) {
      comm.reduce_scatter({{buffer.data(), {4, 4, 4}, buffer.data(), false, {}}}, DType::float32).wait();
    } else {
      comm.all_gather({{buffer.data() + 4 * comm.rank(), buffer.data(), {4, 4, 4}}}, DType::float32).wait();
    }
  });
  expect_one_message(
      messages, 3, {"rank 2", "reduce_scatter of [4, 4, 4] float32 (Reduce layer 5)", "all_gather of [4, 4, 4] float32 (Gather layer 3)"});
}

TEST(Mismatch, OfCountsTypesRootsAndReductions) {
  const std::vector<std::function<void(Communicator&, float*)>> calls = {
      [](Communicator& comm, float* buffer) { comm.all_reduce(buffer, 1 + comm.rank(), DType::float32, ReduceOperation::sum).wait(); },
      [](Communicator& comm, float* buffer) {
        comm.all_reduce(buffer, 1, comm.rank() == 0 ? DType::float32 : DType::int64, ReduceOperation::sum).wait();
      },
      [](Communicator& comm, float* buffer) {
        comm.all_reduce(buffer, 1, DType::float32, comm.rank() == 0 ? ReduceOperation::sum : ReduceOperation::max).wait();
      },
      [](Communicator& comm, float* buffer) { comm.broadcast(buffer, 1, DType::float32, comm.rank()).wait(); },
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto messages = comm_errors(2, [&](Communicator& comm) {
      std::vector<float> buffer(8);
      calls[i](comm, buffer.data());
    });
    ASSERT_EQ(messages.size(), 2U) << "call " << i;
  }
}

TEST(Mismatch, OfAllToAllCounts) {
  const auto messages = comm_errors(2, [](Communicator& comm) {
    std::vector<float> buffer(8);
    const std::vector<int64_t> received = comm.rank() == 0 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1, 1};
    comm.all_to_all(buffer.data(), {1, 1}, buffer.data() + 4, received, DType::float32).wait();
  });
  expect_one_message(messages, 2,
                     {"all_to_all sending [1, 1] receiving [1, 2] float32", "all_to_all sending [1, 1] receiving [1, 1] float32"});
}

TEST(Mismatch, OfSendAndRecv) {
  const auto messages = comm_errors(2, [](Communicator& comm) {
    std::vector<float> buffer(8);
    if (comm.rank() == 0) comm.send(buffer.data(), 4, DType::float32, 1).wait();
    if (comm.rank() == 1) comm.recv(buffer.data(), 5, DType::float32, 0).wait();
  });
  expect_one_message(messages, 2, {"send to 1 of 4 float32", "recv from 0 of 5 float32"});
}

TEST(TimeLimit, NamesTheRankThatDidNotArriveAndWhatItDid) {
  const auto messages = comm_errors(
      3,
      [](Communicator& comm) {
        comm.set_context("start");
        comm.barrier().wait();
        comm.set_context("Reduce norm");
        double value = 1;
        if (comm.rank() != 1) comm.all_reduce(&value, 1, DType::float64, ReduceOperation::sum).wait();
      },
      short_limit);
  expect_one_message(messages, 2,
                     {"waited 50 ms in all_reduce (sum) of 1 float64 (Reduce norm)", "rank 1 did not start it", "after barrier (start)"});
}

TEST(TimeLimit, NamesTheRankThatStartedAndNeverWaited) {
  std::atomic<bool> ended = false;
  const auto messages = comm_errors(
      2,
      [&](Communicator& comm) {
        auto work = comm.barrier();
        if (comm.rank() == 0) {
          try {
            work.wait();
          } catch (...) {
            ended = true;
            ended.notify_all();
            throw;
          }
        } else {
          ended.wait(false);
        }
      },
      short_limit);
  expect_one_message(messages, 1, {"rank 1 started it but did not wait for it"});
}

TEST(TimeLimit, OfARecvNobodyAnswers) {
  const auto messages = comm_errors(
      2,
      [](Communicator& comm) {
        float value = 0;
        if (comm.rank() == 1) comm.recv(&value, 1, DType::float32, 0).wait();
      },
      short_limit);
  expect_one_message(messages, 1, {"rank 1 waited 50 ms in recv from 0 of 1 float32", "rank 0 did not start it", "before its first call"});
}

TEST(DroppedWork, NeitherHangsNorIsForgotten) {
  std::atomic<bool> dropped = false;
  const auto messages = comm_errors(
      2,
      [&](Communicator& comm) {
        if (comm.rank() == 1) {
          comm.barrier();
          dropped = true;
          dropped.notify_all();
        } else {
          dropped.wait(false);
          comm.barrier().wait();
        }
      },
      short_limit);
  expect_one_message(messages, 1, {"rank 1 dropped it", "after dropping, without waiting for it, barrier"});
}

TEST(DroppedWork, IsHarmlessWhenTheOthersHaveFinishedWithIt) {
  std::atomic<bool> received = false;
  run_ranks(2, [&](Communicator& comm) {
    const float sent = 3;
    float value = 0;
    if (comm.rank() == 0) {
      auto work = comm.send(&sent, 1, DType::float32, 1);
      comm.barrier().wait();
      received.wait(false);
    } else {
      auto work = comm.recv(&value, 1, DType::float32, 0);
      comm.barrier().wait();
      received = true;
      received.notify_all();
      work.wait();
      EXPECT_EQ(value, 3.0F);
    }
  });
}

TEST(Abort, WakesEveryWaitPresentAndToCome) {
  const auto messages = comm_errors(4, [](Communicator& comm) {
    if (comm.rank() == 3) comm.abort("rank 3: disk is full");
    EXPECT_THROW(comm.barrier().wait(), CommError);
    EXPECT_THROW(comm.barrier().wait(), CommError);
    comm.abort("a later cause");
    comm.barrier().wait();
  });
  expect_one_message(messages, 4, {"rank 3: disk is full"});
}

TEST(Abort, ReachesSubgroupsAndComesFromThem) {
  for (const bool from_subgroup : {false, true}) {
    const auto messages = comm_errors(4, [&](Communicator& comm) {
      const auto half = comm.subgroup(comm.rank() < 2 ? std::vector<Rank>{0, 1} : std::vector<Rank>{2, 3});
      if (comm.rank() == 3) {
        (from_subgroup ? *half : comm).abort("gone");
        return;
      }
      (comm.rank() == 0 ? comm : *half).barrier().wait();
      if (comm.rank() == 1) comm.barrier().wait();
    });
    for (const auto& message : messages) EXPECT_EQ(message, "gone");
    EXPECT_GE(messages.count("gone"), 2U);
  }
}

TEST(RunRanks, RethrowsTheCauseNotTheConsequences) {
  try {
    run_ranks(4, [](Communicator& comm) {
      if (comm.rank() == 2) throw DataError("row 7 is malformed");
      comm.barrier().wait();
    });
    FAIL() << "nothing was thrown";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "row 7 is malformed");
  }
}

TEST(RunRanks, TellsTheOthersWhoFailed) {
  std::atomic<int> told = 0;
  EXPECT_THROW(run_ranks(3,
                         [&](Communicator& comm) {
                           if (comm.rank() == 0) throw DataError("row 7 is malformed");
                           try {
                             comm.barrier().wait();
                           } catch (const CommError& error) {
                             if (std::string(error.what()) == "rank 0: row 7 is malformed") ++told;
                             throw;
                           }
                         }),
               DataError);
  EXPECT_EQ(told, 2);
}

TEST(RunRanks, AnErrorInACallbackEndsAllRanks) {
  EXPECT_THROW(run_ranks(3,
                         [](Communicator& comm) {
                           std::vector<float> whole(3, 1.0F);
                           const std::function<void(int64_t, const float*, int64_t)> finished = [&](int64_t, const float*, int64_t) {
                             if (comm.rank() == 1) throw DataError("not finite");
                           };
                           comm.reduce_scatter({{whole.data(), {1, 1, 1}, nullptr, false, {}, 1, finished}}, DType::float32).wait();
                           comm.barrier().wait();
                         }),
               DataError);
}

TEST(Arguments, ThatCannotBeRightAreOurFault) {
  run_ranks(2, [](Communicator& comm) {
    float value = 0;
    EXPECT_THROW(comm.all_gather({{&value, &value, {1}}}, DType::float32), std::logic_error);
    EXPECT_THROW(comm.all_reduce(&value, 1, DType::bfloat16, ReduceOperation::sum), std::logic_error);
    EXPECT_THROW(comm.reduce_scatter({{&value, {1, 0}, &value, false, {}}}, DType::float64), std::logic_error);
    EXPECT_THROW(comm.send(&value, 1, DType::float32, 2), std::logic_error);
    EXPECT_THROW(comm.all_reduce(&value, -1, DType::float32, ReduceOperation::sum), std::logic_error);
    EXPECT_THROW(comm.subgroup({1 - comm.rank()}), std::logic_error);
    EXPECT_THROW(comm.subgroup({0, 1, 1}), std::logic_error);
  });
}

}  // namespace
}  // namespace scantling
