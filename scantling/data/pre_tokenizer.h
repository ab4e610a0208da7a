// The "pre_tokenizer" of a tokenizer.json: cuts a stretch of text into words, which merges never cross. Each step takes the pieces of
// the step before. No text is lost: a pattern that would remove some is a DataError when it does.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scantling/data/tokenizer_fields.h"

namespace scantling {

// Words in order: views of the text given, or of `made` where a step changed the text.
struct Pieces {
  std::vector<std::string_view> words;
  std::deque<std::string> made;
};

class PreTokenizer {
 public:
  // No field: a stretch of text is one word. ConfigError for an unsupported kind.
  explicit PreTokenizer(const std::optional<JsonField>& field);

  // `at_start`: whether `text` begins the whole input. `text` must outlive the result.
  Pieces cut(std::string_view text, bool at_start) const;

  bool byte_level() const { return byte_level_; }                  // words are byte strings, to be written in GPT-2's alphabet
  bool prefixes_every_stretch() const { return prefixes_every_; }  // each stretch of text gets a word mark, not only the first

 private:
  using Step = std::function<void(std::string_view piece, bool at_start, Pieces& out)>;

  void add(const JsonField& field);
  void add_byte_level(const JsonField& field);
  void add_metaspace(const JsonField& field);

  std::vector<Step> steps_;
  bool byte_level_ = false;
  bool prefixes_every_ = false;
};

// "always", "first" or "never": where a Metaspace field puts its word mark. Old files say it by "add_prefix_space".
std::string read_prepend_scheme(const JsonField& field);

}  // namespace scantling
