// scantling: argument parsing and exit status, nothing else.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string_view>

#include "scantling/cli/commands.h"
#include "scantling/cli/run_arguments.h"
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

int fail(int status, const std::exception& error, bool json) {
  fmt::print(stderr, "scantling: error: {}\n", message_of(error));
  if (json) cli::print_json({{"error", message_of(error)}});
  return status;
}

int run(int count, char** words) {
  CLI::App app("Trains models that are too large for one device.");
  app.name("scantling");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  for (auto* add : {cli::add_import, cli::add_plan, cli::add_explain, cli::add_train, cli::add_eval, cli::add_generate, cli::add_tokenize,
                    cli::add_checkpoint, cli::add_docs})
    add(app);
  bool json = false;
  for (int i = 1; i < count; i++) json = json || std::string_view(words[i]) == "--json";
  try {
    app.parse(count, words);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
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
  } catch (const std::exception& error) {
    return fail(1, error, json);
  }
}

}  // namespace

int main(int count, char** words) {
  const int status = run(count, words);
  std::fflush(nullptr);
  std::_Exit(status);  // LibTorch's static destructors cost a tenth of a second and free nothing that matters
}
