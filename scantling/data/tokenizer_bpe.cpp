// Symbols form a linked list inside one vector. A heap entry is not removed when its pair changes; it is recognised as stale when it comes
// up, because the pair that then stands there has another rank or none.
#include "scantling/data/tokenizer_bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "scantling/core/error.h"
#include "scantling/data/tokenizer_byte_level.h"
#include "scantling/data/tokenizer_unicode.h"

namespace scantling {
namespace {

// Ids beyond this would make the table of tokens huge for a file with one wrong number.
constexpr int64_t max_token_id = 1 << 24;

constexpr size_t short_word_characters = 32;  // cutting those is not worth the look-ups

uint64_t pair_key(int32_t left, int32_t right) { return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right); }

struct Candidate {
  int32_t rank, left, id;
  bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }
};

using Pair = std::pair<std::string, std::string>;

// What a merge can mean. Written as "a b" it is cut at its space; if tokens have spaces themselves, any of them could be the one.
std::vector<Pair> readings_of(const JsonField& merge) {
  std::vector<Pair> readings;
  if (merge.value().is_string()) {
    const std::string text = merge.text();
    for (size_t space = text.find(' '); space != std::string::npos; space = text.find(' ', space + 1)) {
      readings.emplace_back(text.substr(0, space), text.substr(space + 1));
    }
    if (readings.empty())
      merge.fail(fmt::format("is \"{}\"", text), "A merge must be two tokens with a space between them, or a list of two tokens.");
  } else {
    const auto parts = merge.items();
    if (parts.size() != 2) merge.fail(fmt::format("has {} parts", parts.size()), "A merge must be two tokens.");
    readings.emplace_back(parts[0].text(), parts[1].text());
  }
  return readings;
}

}  // namespace

BpeModel::BpeModel(const JsonField& model, bool byte_level) : byte_level_(byte_level) {
  // Old files leave the type out; they are told by their merges.
  const std::string type = model.text_or("type", model.find("merges") ? "BPE" : "none");
  if (type != "BPE")
    model.fail(fmt::format("has the type \"{}\"", type), "The type must be BPE. Use a model with a BPE tokenizer, or its tokenizer.model.");
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.text_or(affix, "").empty()) model.at(affix).fail("is not empty", "Prefixes and suffixes of word parts are not supported.");
  }
  if (const auto dropout = model.find("dropout"); dropout && dropout->value() != 0) {
    dropout->fail("is not 0", "Merges are never dropped here: set it to null.");
  }
  fuse_unknown_ = model.flag_or("fuse_unk", false);
  ignore_merges_ = model.flag_or("ignore_merges", false);
  read_vocabulary(model.at("vocab"));
  read_merges(model.at("merges"));
  if (model.flag_or("byte_fallback", false)) {
    for (int byte = 0; byte < 256; ++byte) byte_ids_.push_back(id_of(fmt::format("<0x{:02X}>", byte)));
  }
  if (const auto unknown = model.find("unk_token"); unknown && !unknown->text().empty()) {
    unknown_id_ = id_of(unknown->text());
    if (!unknown_id_) unknown->fail(fmt::format("names \"{}\"", unknown->text()), "The unknown token must be in model.vocab.");
  }
}

void BpeModel::read_vocabulary(const JsonField& vocabulary) {
  int64_t end = 0;
  for (const auto& [token, value] : vocabulary.object().items()) {
    const int32_t id = JsonField(value, vocabulary.file(), fmt::format("model.vocab[\"{}\"]", token)).token_id();
    if (id >= max_token_id) vocabulary.fail(fmt::format("gives \"{}\" the id {}", token, id), "Ids must stay below 16777216.");
    end = std::max<int64_t>(end, id + 1);
  }
  tokens_.resize(end);
  ids_.reserve(vocabulary.value().size());
  for (const auto& [token, value] : vocabulary.value().items()) {
    if (token.empty()) vocabulary.fail("has an empty token", "Every token must have at least one character.");
    std::string& slot = tokens_[value.get<int32_t>()];
    if (!slot.empty()) {
      vocabulary.fail(fmt::format("gives the id {} to both \"{}\" and \"{}\"", value.get<int32_t>(), slot, token),
                      "An id must belong to one token.");
    }
    slot = token;
    ids_.emplace(slot, value.get<int32_t>());
  }
}

void BpeModel::read_merges(const JsonField& merges) {
  const auto items = merges.items();
  merges_.reserve(items.size());
  for (size_t rank = 0; rank < items.size(); ++rank) {
    std::vector<Pair> readings = readings_of(items[rank]);
    if (readings.size() > 1) {
      std::erase_if(readings,
                    [&](const Pair& pair) { return !id_of(pair.first) || !id_of(pair.second) || !id_of(pair.first + pair.second); });
      if (readings.size() != 1)
        items[rank].fail("has several spaces and cannot be read", "Write the merge as a list of two tokens of model.vocab.");
    }
    const auto& [left, right] = readings[0];
    const auto known = [&](const std::string& token) {
      const auto id = id_of(token);
      if (!id)
        items[rank].fail(fmt::format("needs the token \"{}\"", token),
                         "Both tokens of a merge and the one it makes must be in model.vocab.");
      return *id;
    };
    const uint64_t key = pair_key(known(left), known(right));
    if (merges_.try_emplace(key, Merge{static_cast<int32_t>(rank), known(left + right)}).second) add_neighbours(left + right);
  }
}

void BpeModel::add_neighbours(std::string_view token) {
  std::optional<int32_t> before;
  for (size_t at = 0, length = 0; at < token.size(); at += length) {
    length = utf8_length(static_cast<unsigned char>(token[at]));
    const auto id = id_of(token.substr(at, length));
    if (before && id) neighbours_.insert(pair_key(*before, *id));
    before = id;
  }
}

std::optional<int32_t> BpeModel::id_of(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string* BpeModel::token(int32_t id) const { return id >= 0 && id < end_id() && !tokens_[id].empty() ? &tokens_[id] : nullptr; }

std::vector<int32_t> BpeModel::characters_of(std::string_view word) const {
  std::vector<int32_t> ids;
  ids.reserve(word.size());
  bool after_unknown = false;
  for (size_t at = 0, length = 0; at < word.size(); at += length) {
    length = utf8_length(static_cast<unsigned char>(word[at]));
    const std::string_view character = word.substr(at, length);
    bool unknown = false;
    if (const auto id = id_of(character)) {
      ids.push_back(*id);
    } else if (std::all_of(character.begin(), character.end(),
                           [&](char c) { return !byte_ids_.empty() && byte_ids_[static_cast<unsigned char>(c)].has_value(); })) {
      for (const char c : character) ids.push_back(*byte_ids_[static_cast<unsigned char>(c)]);
    } else if (unknown_id_) {
      if (!after_unknown || !fuse_unknown_) ids.push_back(*unknown_id_);
      unknown = true;
    } else {
      const char32_t c = utf8_at(word, at);
      const auto byte = byte_level_ ? byte_of_character(c) : std::nullopt;
      throw DataError(
          fmt::format("The text has {}, for which the vocabulary has no token. Every {} must have a token: nothing is dropped. "
                      "Remove it from the text, or use another tokenizer.",
                      byte ? fmt::format("the byte 0x{:02X}", *byte) : fmt::format("the character U+{:04X}", static_cast<uint32_t>(c)),
                      byte_level_ ? "byte" : "character"));
    }
    after_unknown = unknown;
  }
  return ids;
}

const BpeModel::Merge* BpeModel::merge_of(const std::vector<Symbol>& symbols, int32_t left) const {
  const int32_t right = left < 0 ? -1 : symbols[left].next;
  if (right < 0) return nullptr;
  const auto found = merges_.find(pair_key(symbols[left].id, symbols[right].id));
  return found == merges_.end() ? nullptr : &found->second;
}

void BpeModel::merge_run(std::span<const int32_t> characters, std::vector<int32_t>& ids) const {
  const auto count = static_cast<int32_t>(characters.size());
  std::vector<Symbol> symbols;
  symbols.reserve(characters.size());
  for (int32_t at = 0; at < count; ++at) symbols.push_back({characters[at], at - 1, at + 1 < count ? at + 1 : -1});
  std::vector<Candidate> found;
  for (int32_t left = 0; left + 1 < count; ++left) {
    if (const Merge* merge = merge_of(symbols, left)) found.push_back({merge->rank, left, merge->id});
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> waiting(std::greater<>{}, std::move(found));
  while (!waiting.empty()) {
    const Candidate best = waiting.top();
    waiting.pop();
    // A candidate is stale if either symbol has changed since; the pair now there has a candidate of its own.
    if (symbols[best.left].id < 0) continue;
    const Merge* merge = merge_of(symbols, best.left);
    if (merge == nullptr || merge->rank != best.rank) continue;
    Symbol& left = symbols[best.left];
    Symbol& right = symbols[left.next];
    left.id = best.id;
    right.id = -1;
    left.next = right.next;
    if (left.next >= 0) symbols[left.next].previous = best.left;
    for (const int32_t at : {left.previous, best.left}) {
      if (const Merge* next = merge_of(symbols, at)) waiting.push({next->rank, at, next->id});
    }
  }
  for (const Symbol& symbol : symbols) {
    if (symbol.id >= 0) ids.push_back(symbol.id);
  }
}

void BpeModel::encode_word(std::string_view word, std::vector<int32_t>& ids) const {
  if (ignore_merges_) {
    if (const auto id = id_of(word)) return ids.push_back(*id);
  }
  const std::vector<int32_t> characters = characters_of(word);
  const std::span<const int32_t> all(characters);
  size_t begin = 0;
  for (size_t at = 1; at < all.size() && all.size() > short_word_characters; ++at) {
    if (neighbours_.contains(pair_key(all[at - 1], all[at]))) continue;
    merge_run(all.subspan(begin, at - begin), ids);
    begin = at;
  }
  merge_run(all.subspan(begin), ids);
}

}  // namespace scantling
