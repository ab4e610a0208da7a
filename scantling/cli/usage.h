// What a command line that cannot be read is answered with.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace scantling::cli {

// A flag that is given twice is a fault, in every command.
void refuse_repeated_flags(CLI::App& app);

// What is wrong, and which command's --help says how it is written. An unknown command is answered with those there are.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error);

}  // namespace scantling::cli
