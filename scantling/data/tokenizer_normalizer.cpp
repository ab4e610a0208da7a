// Each kind of normaliser is a step that changes the text in place; a Sequence is flattened.
#include "scantling/data/tokenizer_normalizer.h"

#include <fmt/format.h>

#include "scantling/data/pre_tokenizer_regex.h"

namespace scantling {

void replace_all(std::string& text, std::string_view old, std::string_view fresh) {
  std::string out;
  size_t done = 0;
  for (size_t at = text.find(old); at != std::string::npos; at = text.find(old, done)) {
    out.append(text, done, at - done).append(fresh);
    done = at + old.size();
  }
  if (done > 0) text = out.append(text, done);
}

std::function<void(std::string&)> read_replacement(const JsonField& field) {
  const JsonField pattern = field.at("pattern");
  const std::string content = field.at("content").text();
  if (const auto literal = pattern.find("String")) {
    if (literal->text().empty()) literal->fail("is empty", "The text to replace must have at least one character.");
    return [old = literal->text(), content](std::string& text) { replace_all(text, old, content); };
  }
  const JsonField expression = pattern.at("Regex");
  return [regex = Regex(expression.text(), expression.place()), content](std::string& text) {
    std::string out;
    size_t done = 0;
    for (const TextSpan& match : regex.matches(text)) {
      out.append(text, done, match.begin - done).append(content);
      done = match.end;
    }
    text = out.append(text, done);
  };
}

Normalizer::Normalizer(const std::optional<JsonField>& field) {
  if (field) add(*field);
}

void Normalizer::add(const JsonField& field) {
  const std::string type = field.at("type").text();
  if (type == "Sequence") {
    for (const JsonField& item : field.at("normalizers").items()) add(item);
  } else if (type == "Prepend") {
    prepends_ = true;
    steps_.push_back([prefix = field.at("prepend").text()](std::string& text) {
      if (!text.empty()) text.insert(0, prefix);
    });
  } else if (type == "Replace") {
    steps_.push_back(read_replacement(field));
  } else {
    field.fail(fmt::format("has the type \"{}\"", type), "Supported are Sequence, Prepend and Replace. Use a model with such a tokenizer.");
  }
}

std::string Normalizer::operator()(std::string_view text) const {
  std::string out(text);
  for (const auto& step : steps_) step(out);
  return out;
}

}  // namespace scantling
