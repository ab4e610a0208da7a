// A literal ends at the quote that its Jinja string began with, or at a brace outside of Jinja: what reaches beyond is not one text.
#include "scantling/data/chat_template_text.h"

#include <fmt/format.h>

#include "scantling/core/error.h"
#include "scantling/data/tokenizer_unicode.h"

namespace scantling {

TemplateText::TemplateText(std::string_view jinja) {
  for (size_t i = 0; i < jinja.size(); ++i) {
    const bool line_break = jinja[i] == '\\' && i + 1 < jinja.size() && jinja[i + 1] == 'n';
    text_.push_back(line_break ? '\n' : jinja[i]);
    if (line_break) ++i;
  }
}

std::string TemplateText::between(std::string_view begin, std::string_view end) const {
  const size_t from = text_.find(begin);
  const size_t to = from == std::string::npos ? from : text_.find(end, from + begin.size());
  if (to == std::string::npos) {
    throw ConfigError(
        fmt::format("The chat template has no \"{}...\". A template of its kind must have it. Use the model's original template.", begin));
  }
  return text_.substr(from + begin.size(), to - from - begin.size());
}

std::optional<std::string> TemplateText::literal_between(std::string_view begin, std::string_view end) const {
  for (size_t at = text_.find(begin); at != std::string::npos; at = text_.find(begin, at + 1)) {
    const size_t from = at + begin.size();
    const size_t to = text_.find(end, from);
    if (to == std::string::npos) break;
    const char before = at == 0 ? '\n' : text_[at - 1];
    const char closing = before == '\'' || before == '"' ? before : '{';  // what would end the string before `end` is reached
    const std::string literal = text_.substr(from, to - from);
    if (!literal.empty() && literal.find(closing) == std::string::npos) return literal;
  }
  return std::nullopt;
}

std::string trimmed(std::string_view text) {
  while (!text.empty() && is_white_space(utf8_at(text, 0))) text.remove_prefix(utf8_length(static_cast<unsigned char>(text[0])));
  while (!text.empty() && is_white_space(utf8_at(text, utf8_before(text, text.size()))))
    text = text.substr(0, utf8_before(text, text.size()));
  return std::string(text);
}

}  // namespace scantling
