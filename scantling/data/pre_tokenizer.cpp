// Every kind comes down to cutting at the matches of a pattern; they differ in which side of a cut keeps the match.
#include "scantling/data/pre_tokenizer.h"

#include <fmt/format.h>

#include "scantling/core/error.h"
#include "scantling/data/pre_tokenizer_regex.h"
#include "scantling/data/tokenizer_normalizer.h"

namespace scantling {
namespace {

constexpr const char* gpt2_pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

Behavior read_behavior(const JsonField& field) {
  const std::string name = field.text();
  if (name == "Removed") return Behavior::removed;
  if (name == "Isolated") return Behavior::isolated;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  field.fail(fmt::format("is \"{}\"", name), "Supported are Removed, Isolated, MergedWithPrevious, MergedWithNext and Contiguous.");
}

struct Stretch {
  std::string_view text;
  bool match;
};

// The whole text as matches and what lies between them.
std::vector<Stretch> stretches_of(const Regex& regex, std::string_view text, bool invert) {
  std::vector<Stretch> stretches;
  size_t done = 0;
  for (const TextSpan& span : regex.matches(text)) {
    if (span.begin > done) stretches.push_back({text.substr(done, span.begin - done), invert});
    stretches.push_back({text.substr(span.begin, span.end - span.begin), !invert});
    done = span.end;
  }
  if (done < text.size()) stretches.push_back({text.substr(done), invert});
  return stretches;
}

std::string_view joined(std::string_view left, std::string_view right) { return {left.data(), left.size() + right.size()}; }

void split(const Regex& regex, Behavior behavior, bool invert, std::string_view text, Pieces& out) {
  const std::vector<Stretch> stretches = stretches_of(regex, text, invert);
  bool open = false;  // whether the next stretch may join the last word
  bool last_match = false;
  for (const Stretch& stretch : stretches) {
    if (behavior == Behavior::removed && stretch.match) {
      throw DataError(
          fmt::format("The tokenizer's pre-tokenizer removes \"{}\" from the text. Text must not be lost. Use another tokenizer.",
                      stretch.text.substr(0, 40)));
    }
    const bool joins = open && ((behavior == Behavior::merged_with_previous && stretch.match && !last_match) ||
                                (behavior == Behavior::merged_with_next && !stretch.match && last_match) ||
                                (behavior == Behavior::contiguous && stretch.match == last_match));
    if (joins) {
      out.words.back() = joined(out.words.back(), stretch.text);
    } else {
      out.words.push_back(stretch.text);
    }
    open = true;
    last_match = stretch.match;
  }
}

}  // namespace

std::string read_prepend_scheme(const JsonField& field) {
  const std::string scheme = field.text_or("prepend_scheme", field.flag_or("add_prefix_space", true) ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    field.at("prepend_scheme").fail(fmt::format("is \"{}\"", scheme), "It must be always, first or never.");
  }
  return scheme;
}

PreTokenizer::PreTokenizer(const std::optional<JsonField>& field) {
  if (field) add(*field);
}

void PreTokenizer::add(const JsonField& field) {
  const std::string type = field.at("type").text();
  if (byte_level_) field.fail("stands after ByteLevel", "ByteLevel must be the last pre-tokenizer.");
  if (type == "Sequence") {
    for (const JsonField& item : field.at("pretokenizers").items()) add(item);
  } else if (type == "ByteLevel") {
    add_byte_level(field);
  } else if (type == "Metaspace") {
    add_metaspace(field);
  } else if (type == "Digits") {
    const bool individual = field.flag_or("individual_digits", false);
    steps_.push_back([digits = Regex(individual ? "\\p{N}" : "\\p{N}+", field.place())](std::string_view piece, bool, Pieces& out) {
      split(digits, Behavior::isolated, false, piece, out);
    });
  } else if (type == "Split") {
    const JsonField pattern = field.at("pattern");
    const auto literal = pattern.find("String");
    Regex regex(literal ? regex_literal(literal->text()) : pattern.at("Regex").text(), pattern.place());
    steps_.push_back([regex, behavior = read_behavior(field.at("behavior")), invert = field.flag_or("invert", false)](
                         std::string_view piece, bool, Pieces& out) { split(regex, behavior, invert, piece, out); });
  } else {
    field.fail(fmt::format("has the type \"{}\"", type),
               "Supported are Sequence, ByteLevel, Split, Digits and Metaspace. Use a model with such a tokenizer.");
  }
}

void PreTokenizer::add_byte_level(const JsonField& field) {
  byte_level_ = true;
  if (field.flag_or("add_prefix_space", true)) {
    steps_.push_back([](std::string_view piece, bool, Pieces& out) {
      out.words.push_back(piece.starts_with(' ') ? piece : out.made.emplace_back(" " + std::string(piece)));
    });
  }
  if (field.flag_or("use_regex", true)) {
    steps_.push_back([regex = Regex(gpt2_pattern, field.place())](std::string_view piece, bool, Pieces& out) {
      split(regex, Behavior::isolated, false, piece, out);
    });
  }
}

void PreTokenizer::add_metaspace(const JsonField& field) {
  const std::string mark = field.at("replacement").text();
  const std::string scheme = read_prepend_scheme(field);
  prefixes_every_ = scheme == "always";
  steps_.push_back([mark, scheme](std::string_view piece, bool at_start, Pieces& out) {
    std::string text(piece);
    replace_all(text, " ", mark);
    if ((scheme == "always" || (scheme == "first" && at_start)) && !text.starts_with(mark)) text.insert(0, mark);
    out.words.push_back(out.made.emplace_back(std::move(text)));
  });
  if (field.flag_or("split", true)) {
    steps_.push_back([regex = Regex(regex_literal(mark), field.place())](std::string_view piece, bool, Pieces& out) {
      split(regex, Behavior::merged_with_next, false, piece, out);
    });
  }
}

Pieces PreTokenizer::cut(std::string_view text, bool at_start) const {
  Pieces pieces;
  if (text.empty()) return pieces;
  pieces.words.push_back(text);
  for (const Step& step : steps_) {
    const std::vector<std::string_view> before = std::move(pieces.words);
    pieces.words.clear();
    for (size_t i = 0; i < before.size(); ++i) step(before[i], at_start && i == 0, pieces);
  }
  return pieces;
}

}  // namespace scantling
