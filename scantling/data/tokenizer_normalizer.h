// The "normalizer" of a tokenizer.json: what is done to a stretch of text before it is cut into words. Kinds that need Unicode tables
// (NFC, Lowercase, ...) are refused by name: text would be encoded differently without them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scantling/data/tokenizer_fields.h"

namespace scantling {

class Normalizer {
 public:
  // No field: text stays as it is. ConfigError for an unsupported kind.
  explicit Normalizer(const std::optional<JsonField>& field);

  std::string operator()(std::string_view text) const;
  bool prepends() const { return prepends_; }  // whether every stretch of text gets a prefix

 private:
  void add(const JsonField& field);

  std::vector<std::function<void(std::string&)>> steps_;
  bool prepends_ = false;
};

void replace_all(std::string& text, std::string_view old, std::string_view fresh);

// The function that replaces every match of a {"pattern": {"String" | "Regex": ...}, "content": ...} field by its content.
std::function<void(std::string&)> read_replacement(const JsonField& field);

}  // namespace scantling
