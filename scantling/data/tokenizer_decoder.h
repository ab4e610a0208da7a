// The "decoder" of a tokenizer.json: turns a run of tokens back into text. Decoding undoes encoding: the word mark that encoding put
// before a stretch of text is taken away wherever it was put, and bytes come back exactly (a character cut in half stays cut).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scantling/data/tokenizer_fields.h"

namespace scantling {

class Decoder {
 public:
  // No field: the inverse of GPT-2's alphabet if `byte_level`, else tokens are joined as they are. `prefix_everywhere`: encoding puts a
  // prefix before every stretch of text between special tokens, not only before the first. ConfigError for an unsupported kind.
  Decoder(const std::optional<JsonField>& field, bool byte_level, bool prefix_everywhere);

  // The text of a run of ordinary tokens. `at_start`: whether the run begins the whole text.
  std::string decode(std::vector<std::string> tokens, bool at_start) const;

 private:
  using Step = std::function<void(std::vector<std::string>& tokens, bool prefixed)>;

  void add(const JsonField& field);

  std::vector<Step> steps_;
  bool prefix_everywhere_;
};

}  // namespace scantling
