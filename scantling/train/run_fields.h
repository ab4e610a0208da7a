// The one list of everything a run file may say. The parser, messages about unknown keys, the startup echo, --help and
// docs/run-file.md are all made from it; a key exists by standing here, and an option exists by being reachable from here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scantling/train/options.h"
#include "scantling/train/run_file_value.h"

namespace scantling {

struct Field {
  std::string key;      // "train.learning_rate"
  std::string type;     // "number", "whole number", "true | false", "list of patterns", or the words allowed: "adamw | sgd"
  std::string unit;     // "tokens", "s"; empty: none
  std::string doc;      // one line
  std::string missing;  // what holds when the key is not given, where that is not `get` of RunOptions{}: "true for text"
  bool is_list = false;
  // Puts the value into the options. What is needed instead ("a number"), if the value cannot be used; the options are then unchanged.
  std::function<std::optional<std::string>(RunOptions&, const RunValue&)> set;
  // The value as YAML in one line; none: nothing to write (the other form of the same setting is in use).
  std::function<std::optional<std::string>(const RunOptions&)> get;

  std::string section() const;       // "train"; empty for `model`
  std::string name() const;          // the last part of the key
  std::string default_text() const;  // for people
};

// All fields, in the order of documents: model, data, devices, layout, train.
const std::vector<Field>& run_fields();

// Null if there is no such key.
const Field* find_run_field(const std::string& key);

// Whether fields stand below `key` ("layout.mesh").
bool is_run_section(const std::string& key);

// The sentence that says where an unknown key may belong: another section, the nearest spelling, or what is called otherwise elsewhere.
std::string unknown_key_remedy(const std::string& key);

}  // namespace scantling
