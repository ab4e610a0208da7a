// The commands, one short file each: arguments in, library calls, text or JSON out. Each adds itself to the application.
#pragma once

#include <CLI/CLI.hpp>

namespace scantling::cli {

void add_import(CLI::App& app);
void add_plan(CLI::App& app);
void add_explain(CLI::App& app);
void add_train(CLI::App& app);
void add_eval(CLI::App& app);
void add_generate(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_checkpoint(CLI::App& app);
void add_docs(CLI::App& app);

// A command that ran but whose answer is no: `plan` of a run that does not fit (3).
struct ExitStatus {
  int status;
};

}  // namespace scantling::cli
