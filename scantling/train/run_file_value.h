// A run file's text as a plain tree that remembers where each value stands, so that every later message can name the line.
// It is all the rest of the program sees of YAML.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scantling/core/error.h"

namespace scantling {

struct RunValue {
  enum class Kind : uint8_t { null, plain, quoted, list, map };
  struct Entry;

  Kind kind = Kind::null;
  std::string text;             // plain and quoted
  std::vector<RunValue> items;  // list
  std::vector<Entry> entries;   // map, in the order of the file
  std::string place;            // "run.yaml:7", or the flag "--train.seed"

  bool is_text() const { return kind == Kind::plain || kind == Kind::quoted; }
  std::string description() const;  // what a message says was found: "the text \"four\"", "4", "a list"
};

struct RunValue::Entry {
  std::string key;
  std::string place;
  RunValue value;
};

// Reads one YAML (or JSON) document. `name` stands in front of line numbers. Throws ConfigError naming the line of a syntax error;
// a key that stands twice in one map, or is no text, adds a fault. An empty document is null.
RunValue parse_yaml(std::string_view text, const std::string& name, Faults& faults);

// The value of a command-line flag: YAML if it begins with one of `openings` ("[" where a list belongs, "{" where a map does: a pattern
// may begin with a brace), otherwise the text as it is.
RunValue parse_flag_value(const std::string& text, const std::string& flag, std::string_view openings, Faults& faults);

}  // namespace scantling
