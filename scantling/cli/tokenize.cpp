#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "scantling/cli/commands.h"
#include "scantling/cli/run_arguments.h"
#include "scantling/data/tokenizer.h"

namespace scantling::cli {
namespace {

struct Arguments {
  std::string model, text, file;
  bool from_file = false, plain = false, json = false;
};

std::string text_of(const Arguments& arguments) {
  if (!arguments.from_file) return arguments.text;
  std::error_code ignored;
  std::ifstream in(arguments.file, std::ios::binary);
  if (!in || std::filesystem::is_directory(arguments.file, ignored))
    throw DataError(fmt::format("--file ({}) cannot be read. Name a readable text file.", arguments.file));
  return {std::istreambuf_iterator<char>(in), {}};
}

void tokenize(const Arguments& arguments) {
  const auto text = text_of(arguments);
  const auto tokenizer = load_tokenizer(arguments.model);
  const auto ids =
      text.empty() && arguments.from_file ? std::vector<int32_t>() : tokenizer->encode(text, {.parse_special = !arguments.plain});
  std::vector<std::string> pieces;
  for (const auto id : ids) pieces.push_back(tokenizer->piece(id));
  if (arguments.json) return print_json({{"ids", ids}, {"pieces", pieces}});
  for (size_t i = 0; i < ids.size(); i++) fmt::print("{}\t{}\n", ids[i], pieces[i]);
}

}  // namespace

void add_tokenize(CLI::App& app) {
  auto* command = app.add_subcommand("tokenize", "Token ids and pieces of a text");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("MODEL", arguments->model, "Hugging Face folder")->required();
  auto* text = command->add_option("--text", arguments->text, "The text");
  auto* file = command->add_option("--file", arguments->file, "A file; its bytes are taken exactly as they are");
  text->excludes(file);
  command->add_flag("--plain", arguments->plain, "Read special tokens in the text as ordinary text");
  command->add_flag("--json", arguments->json, "Print one JSON document on standard output");
  command->callback([arguments, text, file] {
    if (text->empty() && file->empty()) throw ConfigError("Nothing to tokenize. Give --text T or --file F.");
    arguments->from_file = !file->empty();
    tokenize(*arguments);
  });
}

}  // namespace scantling::cli
