// Patterns over full parameter names: the one way a run file says "these parameters".
// A glob (`*` any text, dots too; `?` one character; `{0..25}` an inclusive range; `{q,k,v}` a choice, nested ones too), or `re:` and a
// regular expression. Either must match the whole name, so that "model.norm" never reaches "model.norm.weight" by chance.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scantling/core/error.h"

namespace scantling {

class Pattern {
 public:
  // Throws ConfigError that names the pattern and the fault in it.
  explicit Pattern(std::string text);

  bool matches(std::string_view name) const;  // the whole name; ConfigError if a regular expression needs too many steps
  const std::string& text() const { return text_; }

 private:
  struct Compiled;
  std::string text_;
  std::shared_ptr<const Compiled> compiled_;
};

// For each pattern the indices of the names it matches, ascending. A malformed pattern, and one that matches nothing, adds a fault that
// begins with `key` (the run file's key, "layout.freeze"); the latter lists the nearest names there are. Its entry is then empty.
std::vector<std::vector<size_t>> apply_patterns(const std::vector<std::string>& patterns, const std::vector<std::string>& names,
                                                const std::string& key, Faults& faults);

}  // namespace scantling
