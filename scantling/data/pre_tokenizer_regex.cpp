// Text is checked to be UTF-8 once, by Tokenizer::encode; PCRE2 would check it again at every match, which makes long texts quadratic.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "scantling/data/pre_tokenizer_regex.h"

#include <fmt/format.h>
#include <pcre2.h>

#include "scantling/core/error.h"
#include "scantling/data/tokenizer_unicode.h"

namespace scantling {
namespace {

std::string message_of(int code) {
  PCRE2_UCHAR buffer[256];
  pcre2_get_error_message(code, buffer, sizeof(buffer));
  return reinterpret_cast<const char*>(buffer);
}

// `\s` and `\S`, inside and outside of brackets, in terms of Unicode's White_Space. `\S` inside brackets cannot be written so; it stays.
std::string with_unicode_spaces(std::string_view pattern) {
  constexpr std::string_view spaces = "\\t-\\r\\x{85}\\p{Z}";
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (next == 's') {
        out += in_class ? std::string(spaces) : fmt::format("[{}]", spaces);
      } else if (next == 'S' && !in_class) {
        out += fmt::format("[^{}]", spaces);
      } else {
        out += {c, next};
      }
      continue;
    }
    if (c == '[' && !in_class)
      in_class = true;
    else if (c == ']')
      in_class = false;
    out.push_back(c);
  }
  return out;
}

}  // namespace

Regex::Regex(const std::string& pattern, const std::string& where) {
  const std::string ours = with_unicode_spaces(pattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(ours.data()), ours.size(), PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
  if (code == nullptr) {
    throw ConfigError(
        fmt::format("{} has a pattern that does not compile ({} in \"{}\"). It must be a regular expression. Correct the pattern.", where,
                    message_of(error), pattern));
  }
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // where there is no compiler for this machine, matching interprets: same result
  code_ = std::shared_ptr<pcre2_code>(code, [](pcre2_code* c) { pcre2_code_free(c); });
}

std::vector<TextSpan> Regex::matches(std::string_view text) const {
  std::vector<TextSpan> spans;
  const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> data(pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  for (size_t at = 0; at < text.size();) {
    const int found =
        pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at, PCRE2_NO_UTF_CHECK, data.get(), nullptr);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      throw DataError(
          fmt::format("The tokenizer's pattern cannot be matched from byte {} on ({}). A text must stay within the matcher's limits. "
                      "Cut the text into shorter documents.",
                      at, message_of(found)));
    }
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
    if (ends[1] > ends[0]) spans.push_back({ends[0], ends[1]});
    at = ends[1] > at ? ends[1] : at + utf8_length(static_cast<unsigned char>(text[at]));
  }
  return spans;
}

std::string regex_literal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}-#").find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

}  // namespace scantling
