// Unicode regular expressions of tokenizer files, matched by PCRE2 (compiled to machine code where it can). `\s` is rewritten to Unicode's
// White_Space, which is what the files mean; PCRE2's own set has one character more (U+180E).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;

namespace scantling {

struct TextSpan {
  size_t begin, end;  // bytes
};

class Regex {
 public:
  // `where` names the file and key in the ConfigError for a pattern that does not compile.
  Regex(const std::string& pattern, const std::string& where);

  // All matches, left to right, not overlapping, none empty. `text` must be well-formed UTF-8. Safe to call from several threads.
  std::vector<TextSpan> matches(std::string_view text) const;

 private:
  std::shared_ptr<pcre2_real_code_8> code_;
};

// `text` with every special character of a pattern escaped.
std::string regex_literal(std::string_view text);

}  // namespace scantling
