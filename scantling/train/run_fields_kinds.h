// How each kind of field is read and written. A field is its key, one line of text and an accessor, a generic lambda
// `[](auto& run) -> auto& { return run.train.seed; }` that serves reading and writing alike.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "scantling/train/run_fields.h"

namespace scantling {

std::string yaml_text(const std::string& text);                // quoted where YAML needs it
std::string yaml_list(const std::vector<std::string>& texts);  // ["a", b]
std::string yaml_bytes(int64_t bytes);                         // "1GiB", exact; 0: unlimited

template <class Number>
std::optional<Number> parse_number(const RunValue& value) {
  Number number{};
  if (value.kind != RunValue::Kind::plain) return std::nullopt;
  const char* begin = value.text.data();
  const char* end = begin + value.text.size();
  if (value.text.starts_with('+')) begin++;
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (begin == end || error != std::errc() || stop != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>)
    if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<bool> parse_flag(const RunValue& value);
std::optional<std::vector<std::string>> parse_texts(const RunValue& value);  // a list of texts, or one text

// A number, whole if the member is an integer. `least`: the smallest a given value may be, for members whose 0 means "not given".
template <class Access>
Field number_field(std::string key, std::string unit, std::string doc, Access at, std::optional<int64_t> least = std::nullopt) {
  using Number = std::remove_cvref_t<decltype(at(std::declval<RunOptions&>()))>;
  constexpr bool whole = std::is_integral_v<Number>;
  Field field{.key = std::move(key), .type = whole ? "whole number" : "number", .unit = std::move(unit), .doc = std::move(doc)};
  field.set = [at, least](RunOptions& run, const RunValue& value) -> std::optional<std::string> {
    const auto number = parse_number<Number>(value);
    const std::string needed = whole ? "a whole number" : "a number";
    if (!number) return needed;
    if (least && *number < static_cast<Number>(*least)) return needed + " of " + std::to_string(*least) + " or more";
    at(run) = *number;
    return std::nullopt;
  };
  field.get = [at](const RunOptions& run) -> std::optional<std::string> { return fmt::format("{}", at(run)); };
  return field;
}

template <class Access>
Field flag_field(std::string key, std::string doc, Access at) {
  Field field{.key = std::move(key), .type = "true | false", .doc = std::move(doc)};
  field.set = [at](RunOptions& run, const RunValue& value) -> std::optional<std::string> {
    const auto flag = parse_flag(value);
    if (!flag) return "true or false";
    at(run) = *flag;
    return std::nullopt;
  };
  field.get = [at](const RunOptions& run) -> std::optional<std::string> { return at(run) ? "true" : "false"; };
  return field;
}

template <class Access>
Field text_field(std::string key, std::string type, std::string doc, Access at) {
  Field field{.key = std::move(key), .type = std::move(type), .doc = std::move(doc)};
  field.set = [at](RunOptions& run, const RunValue& value) -> std::optional<std::string> {
    if (!value.is_text()) return "a text";
    at(run) = value.text;
    return std::nullopt;
  };
  field.get = [at](const RunOptions& run) -> std::optional<std::string> { return yaml_text(at(run)); };
  return field;
}

template <class Access>
Field list_field(std::string key, std::string type, std::string doc, Access at) {
  Field field{.key = std::move(key), .type = std::move(type), .doc = std::move(doc), .is_list = true};
  field.set = [at](RunOptions& run, const RunValue& value) -> std::optional<std::string> {
    const auto texts = parse_texts(value);
    if (!texts) return "a list of texts, as [a, b]";
    at(run) = *texts;
    return std::nullopt;
  };
  field.get = [at](const RunOptions& run) -> std::optional<std::string> { return yaml_list(at(run)); };
  return field;
}

// One of some words. The first word of a value is the one written; later ones of the same value are read too.
template <class Value>
using Words = std::vector<std::pair<std::string, Value>>;

std::string joined(const std::vector<std::string>& words);  // "adamw | sgd"

template <class Value, class Access>
Field choice_field(std::string key, Words<Value> words, std::string doc, Access at) {
  Field field{.key = std::move(key), .doc = std::move(doc)};
  std::vector<std::string> names;
  for (const auto& word : words) names.push_back(word.first);
  field.type = joined(names);
  field.set = [at, words, type = field.type](RunOptions& run, const RunValue& value) -> std::optional<std::string> {
    for (const auto& [word, meaning] : words)
      if (value.is_text() && value.text == word) {
        at(run) = meaning;
        return std::nullopt;
      }
    return (words.size() > 1 ? "one of " : "") + type;
  };
  field.get = [at, words](const RunOptions& run) -> std::optional<std::string> {
    for (const auto& [word, meaning] : words)
      if (at(run) == meaning) return word;
    return std::nullopt;
  };
  return field;
}

}  // namespace scantling
