// One walk down a trie at every byte finds the longest token there. Skipping a special one that is not wanted goes on down the same walk,
// so a shorter ordinary token in its place is still found.
#include "scantling/data/tokenizer_added_tokens.h"

#include "scantling/data/pre_tokenizer_regex.h"
#include "scantling/data/tokenizer_unicode.h"

namespace scantling {
namespace {

bool is_word_character(std::string_view text, size_t at) {
  static const Regex word("\\w", "single_word");
  return !word.matches(text.substr(at, utf8_length(static_cast<unsigned char>(text[at])))).empty();
}

bool inside_a_word(std::string_view text, size_t begin, size_t end) {
  return (begin > 0 && is_word_character(text, utf8_before(text, begin))) || (end < text.size() && is_word_character(text, end));
}

}  // namespace

AddedToken read_added_token(const JsonField& field) {
  AddedToken token;
  token.content = field.at("content").text();
  if (token.content.empty()) field.fail("has an empty \"content\"", "An added token must have at least one character.");
  token.special = field.flag_or("special", false);
  token.lstrip = field.flag_or("lstrip", false);
  token.rstrip = field.flag_or("rstrip", false);
  token.single_word = field.flag_or("single_word", false);
  token.normalized = field.flag_or("normalized", !token.special);
  return token;
}

void AddedTokens::add(AddedToken token, std::string_view written) {
  if (written.empty()) return;
  tokens_.push_back(std::make_unique<AddedToken>(std::move(token)));
  int32_t node = 0;
  for (const char c : written) {
    const auto [edge, is_new] = nodes_[node].next.try_emplace(static_cast<unsigned char>(c), static_cast<int32_t>(nodes_.size()));
    node = edge->second;
    if (is_new) nodes_.emplace_back();
  }
  nodes_[node].token = tokens_.back().get();
}

AddedTokens::Match AddedTokens::longest_at(std::string_view text, size_t at, bool parse_special) const {
  Match best{at, at, nullptr};
  int32_t node = 0;
  for (size_t end = at; end < text.size();) {
    const auto edge = nodes_[node].next.find(static_cast<unsigned char>(text[end]));
    if (edge == nodes_[node].next.end()) break;
    node = edge->second;
    ++end;
    const AddedToken* token = nodes_[node].token;
    if (token == nullptr || (token->special && !parse_special) || (token->single_word && inside_a_word(text, at, end))) continue;
    best = {at, end, token};
  }
  return best;
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text, bool parse_special) const {
  std::vector<Part> parts;
  const auto emit = [&](size_t begin, size_t end, const AddedToken* token) {
    if (end > begin) parts.push_back({text.substr(begin, end - begin), token});
  };
  size_t done = 0;
  for (size_t at = 0; at < text.size() && !tokens_.empty();) {
    Match match = longest_at(text, at, parse_special);
    if (match.token == nullptr) {
      ++at;
      continue;
    }
    while (match.token->lstrip && match.begin > done && is_white_space(utf8_at(text, utf8_before(text, match.begin)))) {
      match.begin = utf8_before(text, match.begin);
    }
    while (match.token->rstrip && match.end < text.size() && is_white_space(utf8_at(text, match.end))) {
      match.end += utf8_length(static_cast<unsigned char>(text[match.end]));
    }
    emit(done, match.begin, nullptr);
    emit(match.begin, match.end, match.token);
    at = done = match.end;
  }
  emit(done, text.size(), nullptr);
  return parts;
}

}  // namespace scantling
