// Tokens that are cut out of the text before anything else sees it ("<|im_end|>", "<s>"). At each place the longest one wins, as in
// Hugging Face's tokenizers. Special ones can be left in the text, so that untrusted text cannot forge them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scantling/data/tokenizer_fields.h"

namespace scantling {

struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool special = true;
  bool lstrip = false, rstrip = false;  // take white space on that side away with the token
  bool single_word = false;             // not inside a word
  bool normalized = false;              // looked for in the normalised text
};

// Reads one entry of "added_tokens" or "added_tokens_decoder". The id is not read.
AddedToken read_added_token(const JsonField& field);

class AddedTokens {
 public:
  struct Part {
    std::string_view text;    // of the input
    const AddedToken* token;  // null: ordinary text
  };

  // `written`: how the token looks in the text that is split (its normalised form). An empty one is never found.
  void add(AddedToken token, std::string_view written);
  // The parts of `text` in order, none empty. Without `parse_special` the special ones stay ordinary text.
  std::vector<Part> split(std::string_view text, bool parse_special) const;
  bool empty() const { return tokens_.empty(); }

 private:
  struct Node {
    std::map<unsigned char, int32_t> next;
    const AddedToken* token = nullptr;
  };
  struct Match {
    size_t begin, end;
    const AddedToken* token;
  };

  Match longest_at(std::string_view text, size_t at, bool parse_special) const;

  std::vector<std::unique_ptr<AddedToken>> tokens_;
  std::vector<Node> nodes_ = std::vector<Node>(1);  // a trie over bytes
};

}  // namespace scantling
