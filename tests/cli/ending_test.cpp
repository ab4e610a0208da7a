// How a command ends when something outside it does: a signal, an output that cannot be written, a folder that holds a finished run.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/cli/command.h"

namespace scantling::test {
namespace {

using std::chrono::steady_clock;

// Starts a run that would take hours, and sends the signal when the first step is written.
Answer stopped_by(int signal, const Flags& flags) {
  Command command;
  command.write_run(100'000'000);
  const auto child = command.start(Flags{"train", command.run_file()} + flags);
  const auto limit = steady_clock::now() + std::chrono::seconds(60);
  while (bytes_of(command.path("out/metrics.jsonl")).empty() && steady_clock::now() < limit) std::this_thread::yield();
  ::kill(child, signal);
  const auto begin = steady_clock::now();
  auto answer = command.wait(child);
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_FALSE(std::filesystem::exists(command.path("out/model")));
  EXPECT_FALSE(std::filesystem::exists(command.path("out/summary.json")));
  EXPECT_TRUE(bytes_of(command.path("out/metrics.jsonl")).ends_with("}\n"));
  return answer;
}

TEST(Ending, InterruptEndsARunAndSaysWhatIsLost) {
  const auto answer = stopped_by(SIGINT, {"--json"});
  EXPECT_EQ(answer.status, 130);
  EXPECT_TRUE(contains(answer.err, "nothing was saved")) << answer.err;
  EXPECT_TRUE(nlohmann::json::accept(answer.out)) << answer.out;
}

TEST(Ending, TerminationEndsAllRanks) {
  const auto answer = stopped_by(SIGTERM, mesh(1, 2));
  EXPECT_EQ(answer.status, 143);
  EXPECT_TRUE(contains(answer.err, "nothing was saved")) << answer.err;
}

TEST(Ending, AnAnswerThatCannotBeWrittenIsAFailure) {
  const Command command;
  for (const std::string out : {"/dev/full", ""}) {
    const auto answer = command.wait(command.start({"plan", command.run_file(), "--json"}, out));
    EXPECT_EQ(answer.status, 1) << "standard output: " << out;
    EXPECT_TRUE(contains(answer.err, "Standard output cannot be written")) << answer.err;
  }
}

TEST(Ending, AClosedOutputIsNotTakenForAFile) {
  const Command command;
  command.wait(command.start({"train", command.run_file(), "--train.max_steps=2"}, ""));
  EXPECT_TRUE(nlohmann::json::accept(bytes_of(command.path("out/summary.json"))));
}

TEST(Ending, AFinishedRunIsKeptUnlessToldOtherwise) {
  const Command command;
  const Flags words{"train", command.run_file(), "--train.max_steps=2"};
  EXPECT_EQ(command.run(words).status, 0);
  const auto before = bytes_of(command.path("out/summary.json"));
  const auto again = command.run(words);
  EXPECT_EQ(again.status, 2);
  EXPECT_TRUE(contains(again.err, "holds a finished run")) << again.err;
  EXPECT_EQ(bytes_of(command.path("out/summary.json")), before);
  EXPECT_EQ(command.run(words + Flags{"--overwrite"}).status, 0);
}

TEST(Ending, AProgramIsOneDocumentToo) {
  const Command command;
  const auto answer = command.run({"explain", command.run_file(), "--program", "--json"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_GT(nlohmann::json::parse(answer.out).at("program").size(), 10U);
}

}  // namespace
}  // namespace scantling::test
