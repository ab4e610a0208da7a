// A glob is translated to a regular expression, so that there is one matcher. `{a..b}` becomes the choice of its numbers: names hold
// plain decimal numbers, and a range of layers is short.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "scantling/layout/pattern.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "scantling/core/text.h"

namespace scantling {
namespace {

constexpr int64_t longest_range = 10'000;

[[noreturn]] void refuse(const std::string& pattern, const std::string& fault) {
  throw ConfigError(fmt::format("The pattern \"{}\" cannot be read: {}", pattern, fault));
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Reads a glob from left to right and writes the regular expression.
class GlobTranslator {
 public:
  explicit GlobTranslator(const std::string& glob) : glob_(glob) {}

  std::string translate() {
    std::string regex = sequence(0);
    if (at_ < glob_.size()) refuse(glob_, fmt::format("\"}}\" at character {} closes nothing. Remove it or add \"{{\".", at_ + 1));
    return regex;
  }

 private:
  // Up to the end, or (inside braces) up to the "," or "}" that belongs to the enclosing choice.
  std::string sequence(int depth) {
    std::string regex;
    for (; at_ < glob_.size(); at_++) {
      const char c = glob_[at_];
      if (c == '}' || (c == ',' && depth > 0)) break;
      if (c == '*')
        regex += ".*";
      else if (c == '?')
        regex += '.';
      else if (c == '{')
        regex += braces(depth + 1);
      else if (c == '[' || c == ']')
        refuse(glob_, "it holds brackets. A choice of numbers or texts is written {0..9} or {a,b}.");
      else
        regex += literal(c);
    }
    return regex;
  }

  // At "{": leaves `at_` on the closing "}".
  std::string braces(int depth) {
    const size_t open = at_++;
    if (const auto range = numbers(open)) return *range;
    std::string choices = sequence(depth);
    int num_choices = 1;
    for (; at_ < glob_.size() && glob_[at_] == ','; num_choices++) {
      at_++;
      choices += '|' + sequence(depth);
    }
    if (at_ >= glob_.size()) refuse(glob_, fmt::format("\"{{\" at character {} is not closed. Add \"}}\".", open + 1));
    if (num_choices == 1) refuse(glob_, fmt::format("the braces at character {} hold one item. Write {{0..9}} or {{a,b}}.", open + 1));
    return "(?:" + choices + ")";
  }

  // "{a..b}": the choice of its numbers.
  std::optional<std::string> numbers(size_t open) {
    const size_t close = glob_.find('}', open), dots = glob_.find("..", open);
    if (close == std::string::npos || dots == std::string::npos || dots > close) return std::nullopt;
    const std::string inside = glob_.substr(open, close - open + 1);
    if (inside.find_first_of(",{", 1) != std::string::npos) return std::nullopt;
    const auto first = whole_number(std::string_view(glob_).substr(open + 1, dots - open - 1));
    const auto last = whole_number(std::string_view(glob_).substr(dots + 2, close - dots - 2));
    if (!first || !last || *first < 0) refuse(glob_, fmt::format("{} is no range of whole numbers. Write one as {{0..25}}.", inside));
    if (*first > *last) refuse(glob_, fmt::format("the range {} is empty. Write {{{}..{}}}.", inside, *last, *first));
    if (*last - *first >= longest_range) refuse(glob_, fmt::format("the range {} is longer than {}. Use *.", inside, longest_range));
    std::string choices;
    for (int64_t number = *first; number <= *last; number++) choices += (number > *first ? "|" : "") + std::to_string(number);
    at_ = close;
    return "(?:" + choices + ")";
  }

  static std::string literal(char c) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 128;
    return plain ? std::string(1, c) : std::string("\\") + c;
  }

  const std::string& glob_;
  size_t at_ = 0;
};

// Names that begin like the pattern does, or the one that is nearly spelt like it.
std::vector<std::string> nearest_names(const std::string& pattern, const std::vector<std::string>& names) {
  if (const std::string name = nearest_name(pattern, names); !name.empty()) return {name};
  std::string head = pattern.starts_with("re:") ? pattern.substr(3) : pattern;
  head.resize(std::min(head.find_first_of("*?{\\[(^$"), head.size()));
  std::vector<std::string> found;
  for (; found.empty() && !names.empty(); head.pop_back()) {
    std::copy_if(names.begin(), names.end(), std::back_inserter(found), [&](const auto& name) { return name.starts_with(head); });
    if (head.empty()) break;
  }
  return found;
}

}  // namespace

struct Pattern::Compiled {
  pcre2_code* code = nullptr;
  ~Compiled() { pcre2_code_free(code); }
};

Pattern::Pattern(std::string text) : text_(std::move(text)) {
  const bool is_regex = text_.starts_with("re:");
  const std::string regex = is_regex ? text_.substr(3) : GlobTranslator(text_).translate();
  if (regex.empty()) refuse(text_, "it is empty. Write a parameter's name, a glob as model.layers.*, or re: and a regular expression.");
  int error = 0;
  PCRE2_SIZE offset = 0;
  auto compiled = std::make_shared<Compiled>();
  compiled->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(regex.data()), regex.size(),
                                 PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOTALL, &error, &offset, nullptr);
  if (!compiled->code) {
    char message[256] = {};
    pcre2_get_error_message(error, reinterpret_cast<PCRE2_UCHAR*>(message), sizeof message);
    refuse(text_, fmt::format("{} at character {} of the regular expression. Correct it, or write a glob as model.layers.{{0..3}}.*.",
                              message, offset + 1));
  }
  compiled_ = std::move(compiled);
}

bool Pattern::matches(std::string_view name) const {
  pcre2_match_data* data = pcre2_match_data_create_from_pattern(compiled_->code, nullptr);
  const int found = pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(name.data()), name.size(), 0, 0, data, nullptr);
  pcre2_match_data_free(data);
  if (found < 0 && found != PCRE2_ERROR_NOMATCH)
    throw ConfigError(fmt::format("The pattern \"{}\" needs too many steps on \"{}\". Write a simpler one.", text_, name));
  return found >= 0;
}

std::vector<std::vector<size_t>> apply_patterns(const std::vector<std::string>& patterns, const std::vector<std::string>& names,
                                                const std::string& key, Faults& faults) {
  std::vector<std::vector<size_t>> matched(patterns.size());
  for (size_t i = 0; i < patterns.size(); i++) {
    try {
      const Pattern pattern(patterns[i]);
      for (size_t j = 0; j < names.size(); j++)
        if (pattern.matches(names[j])) matched[i].push_back(j);
    } catch (const ConfigError& error) {
      faults.add(fmt::format("{}: {}", key, error.what()));
      continue;
    }
    if (matched[i].empty())
      faults.add(fmt::format("{}: \"{}\" matches none of the {} parameters. Every pattern must match at least one. Nearest names: {}.", key,
                             patterns[i], names.size(), join_names(nearest_names(patterns[i], names), 4)));
  }
  return matched;
}

}  // namespace scantling
