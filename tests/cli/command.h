// Runs the built program as a child process, as a user would, and holds what it said.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/training.h"

namespace scantling::test {

struct Answer {
  int status = -1;  // exit status; 128 + N if signal N ended it
  std::string out, err;
};

// A folder with a tiny model, rows of ids and a run file over them, and the program to run on them.
class Command {
 public:
  Command() { write_run(8); }

  void write_run(int max_steps) {
    bench_.write("run.yaml",
                 "model: " + bench_.model() + "\ndata: {train: " + bench_.rows() +
                     ", format: tokens, max_length: 16}\ntrain: {per_device_train_batch_size: 2, global_batch_size: 4, max_steps: " +
                     std::to_string(max_steps) + ", output_dir: " + bench_.path("out") + "}\n");
  }

  std::string path(const std::string& name) const { return bench_.path(name); }
  std::string write(const std::string& name, const std::string& bytes) const { return bench_.write(name, bytes); }
  std::string run_file() const { return path("run.yaml"); }

  // Starts the program; standard output goes to `out`, or to a file that is read by wait(). "" closes it.
  pid_t start(std::vector<std::string> words, const std::string& out = "stdout") const {
    words.insert(words.begin(), SCANTLING_PROGRAM);
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string out_path = out.starts_with('/') ? out : path(out), err_path = path("stderr");
    const pid_t child = ::fork();
    if (child != 0) return child;
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
    ::dup2(::open(err_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    if (out.empty())
      ::close(STDOUT_FILENO);
    else
      ::dup2(::open(out_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }

  Answer wait(pid_t child) const {
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), bytes_of(path("stdout")), bytes_of(path("stderr"))};
  }

  Answer run(const std::vector<std::string>& words) const { return wait(start(words)); }

 private:
  Bench bench_;
};

}  // namespace scantling::test
