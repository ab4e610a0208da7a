// scantling: argument parsing and exit status, nothing else. Every fault is a paragraph on standard error and, with --json, the one
// document on standard output; an answer that cannot be written is a failure too.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "scantling/cli/commands.h"
#include "scantling/cli/run_arguments.h"
#include "scantling/cli/usage.h"
#include "scantling/core/error.h"
#include "scantling/train/stop.h"

// MKL takes its slow path on processors that are not Intel's unless the process says otherwise; measured 10 to 20 % of a product's speed.
extern "C" __attribute__((visibility("default"))) int mkl_serv_intel_cpu_true() { return 1; }

namespace {

using namespace scantling;

// LibTorch appends a call stack to its messages.
std::string message_of(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find("\nException raised from"));
}

int fail(int status, const std::string& message, bool json) {
  fmt::print(stderr, "scantling: error: {}\n", message);
  if (json) cli::print_json({{"error", message}});
  return status;
}

int fail(int status, const std::exception& error, bool json) { return fail(status, message_of(error), json); }

int run(int count, char** words) {
  CLI::App app("Trains models that are too large for one device.");
  app.name("scantling");
  app.require_subcommand(1);
  for (auto* add : {cli::add_import, cli::add_plan, cli::add_explain, cli::add_train, cli::add_eval, cli::add_generate, cli::add_tokenize,
                    cli::add_checkpoint, cli::add_docs})
    add(app);
  cli::refuse_repeated_flags(app);
  bool json = false;
  for (int i = 1; i < count; i++) json = json || std::string_view(words[i]) == "--json";
  try {
    app.parse(count, words);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return fail(2, cli::usage_fault(app, error), json);
  } catch (const cli::ExitStatus& answer) {
    return answer.status;
  } catch (const OutOfDeviceMemory& error) {
    return fail(3, error, json);
  } catch (const ConfigError& error) {
    return fail(2, error, json);
  } catch (const CheckpointError& error) {
    return fail(2, error, json);
  } catch (const DataError& error) {
    return fail(2, error, json);
  } catch (const Interrupted& error) {
    return fail(128 + error.signal(), error, json);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(2,
                fmt::format("{}: cannot be used ({}). Files and folders must be reachable. Check the path and its permissions.",
                            error.path1().string(), error.code().message()),
                json);
  } catch (const std::exception& error) {
    return fail(1, error, json);
  }
}

// A standard stream that was closed: the next file to be opened would take its place and receive what is printed.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY) != stream) std::_Exit(1);
}

}  // namespace

int main(int count, char** words) {
  hold_standard_streams();
  int status = run(count, words);
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && status == 0)
    status = fail(1,
                  fmt::format("Standard output cannot be written ({}). The answer goes there. Free space, or send it elsewhere.",
                              std::strerror(errno)),
                  false);
  std::fflush(nullptr);
  std::_Exit(status);  // LibTorch's static destructors cost a tenth of a second and free nothing that matters
}
