// Byte-pair encoding: a word starts as its characters and adjacent symbols are merged, lowest rank first, leftmost first among equals,
// until no known pair is left. Candidates wait in a heap, so a word of n characters takes O(n log n). Where the "word" is a whole
// document (SentencePiece-like files have no pre-tokenizer) it is first cut between characters that stand side by side in no token: no
// merge can reach over such a place. Text is never dropped: a character that has neither a token, nor byte tokens, nor an unknown token
// to stand for it is a DataError.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "scantling/data/tokenizer_fields.h"

namespace scantling {

class BpeModel {
 public:
  // `model` is the "model" object of a tokenizer.json. ConfigError for another type than BPE, wrong or missing keys, an id given to two
  // tokens, a merge that names an unknown token. `byte_level`: characters stand for bytes (see tokenizer_byte_level.h), for messages.
  BpeModel(const JsonField& model, bool byte_level);

  // Appends the ids of one word, written in the vocabulary's alphabet.
  void encode_word(std::string_view word, std::vector<int32_t>& ids) const;

  std::optional<int32_t> id_of(std::string_view token) const;
  const std::string* token(int32_t id) const;                              // null if no token has the id
  int32_t end_id() const { return static_cast<int32_t>(tokens_.size()); }  // the largest id + 1

 private:
  struct Merge {
    int32_t rank, id;
  };
  struct Symbol {
    int32_t id, previous, next;  // -1: none; a symbol that was merged away has id -1
  };

  void read_vocabulary(const JsonField& vocabulary);
  void read_merges(const JsonField& merges);
  void add_neighbours(std::string_view token);
  std::vector<int32_t> characters_of(std::string_view word) const;
  void merge_run(std::span<const int32_t> characters, std::vector<int32_t>& ids) const;
  const Merge* merge_of(const std::vector<Symbol>& symbols, int32_t left) const;

  std::vector<std::string> tokens_;                    // by id; empty where an id is not used
  std::unordered_map<std::string_view, int32_t> ids_;  // views of tokens_
  std::unordered_map<uint64_t, Merge> merges_;         // by left id << 32 | right id
  std::unordered_set<uint64_t> neighbours_;            // pairs of characters that stand side by side in a merged token
  std::vector<std::optional<int32_t>> byte_ids_;       // of "<0x00>" to "<0xFF>"; empty without byte fallback
  std::optional<int32_t> unknown_id_;
  bool byte_level_, fuse_unknown_, ignore_merges_;
};

}  // namespace scantling
