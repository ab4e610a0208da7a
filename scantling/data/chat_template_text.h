// The text of a Jinja chat template, for finding strings in it. Line breaks written as \n inside Jinja strings are made real first, since
// the same template is found in both spellings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace scantling {

class TemplateText {
 public:
  explicit TemplateText(std::string_view jinja);

  bool has(std::string_view part) const { return text_.find(part) != std::string::npos; }
  // What stands between the first `begin` and the next `end`. ConfigError if they are not there.
  std::string between(std::string_view begin, std::string_view end) const;
  // The literal text that stands between `begin` and `end` inside one Jinja string (or outside of Jinja), if there is one.
  std::optional<std::string> literal_between(std::string_view begin, std::string_view end) const;

 private:
  std::string text_;
};

// `text` without the white space at both ends.
std::string trimmed(std::string_view text);

}  // namespace scantling
