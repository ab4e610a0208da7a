// What differs between kinds of tokenizers: how a stretch of ordinary text becomes ids and ids become text. Special tokens, start tokens
// and run-on texts are Tokenizer's business. Implementations are immutable once built, so every method may run on several threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace scantling {

struct WordHash : std::hash<std::string_view> {
  using is_transparent = void;
};

// Ids of words met before in the same call of Tokenizer::encode.
using WordCache = std::unordered_map<std::string, std::vector<int32_t>, WordHash, std::equal_to<>>;

class TextModel {
 public:
  virtual ~TextModel() = default;

  // The text in which added tokens marked "normalized" are looked for.
  virtual std::string normalize(std::string_view text) const = 0;
  // Appends the ids of a normalised stretch of text. `at_start`: whether it begins the whole input. DataError if it cannot be encoded.
  virtual void encode(std::string_view text, bool at_start, WordCache& cache, std::vector<int32_t>& ids) const = 0;
  // The text of a run of the model's own ids.
  virtual std::string decode(std::span<const int32_t> ids, bool at_start) const = 0;
  virtual std::optional<int32_t> id_of(std::string_view piece) const = 0;
  virtual std::optional<std::string> piece(int32_t id) const = 0;
  virtual int32_t end_id() const = 0;  // the largest id + 1
};

}  // namespace scantling
