// The small files beside a tokenizer: which tokens are special, which begin and end a text, whether a start token is added, the chat
// template. Names are resolved to ids by the finished tokenizer; a name it does not know is an error, not an absent setting.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scantling/data/tokenizer.h"
#include "scantling/data/tokenizer_fields.h"

namespace scantling {

class TokenizerSettings {
 public:
  // Reads tokenizer_config.json, special_tokens_map.json, added_tokens.json, config.json, generation_config.json and
  // chat_template.jinja of `folder`, as far as they are there.
  explicit TokenizerSettings(const std::filesystem::path& folder);

  std::vector<AddedToken> added_tokens() const;    // with ids; of tokenizer_config.json and added_tokens.json
  std::vector<std::string> special_names() const;  // tokens that the files name without an id
  bool prefix_everywhere() const;                  // "legacy"

  // What the tokenizer's own file says; the small files come first.
  struct Defaults {
    std::optional<bool> adds_start;
    std::optional<int32_t> bos_id, eos_id, pad_id;
    bool sentencepiece = false;
  };
  // Fills the public members of `tokenizer`.
  void apply(const Defaults& defaults, Tokenizer& tokenizer) const;

 private:
  struct File {
    std::string name;
    nlohmann::json document;
  };

  std::optional<JsonField> field(const File& file, const std::string& key) const;
  std::optional<std::string> token_named(const std::string& key) const;  // key: "bos_token"
  std::optional<int32_t> role(const std::string& name, std::optional<int32_t> otherwise, const Tokenizer& tokenizer) const;
  std::vector<int32_t> model_ids(const std::string& key) const;  // key: "eos_token_id", an id or a list
  bool adds_start(const Defaults& defaults, const Tokenizer& tokenizer) const;
  std::string chat_template() const;

  std::filesystem::path folder_;
  File config_, special_map_, added_, model_config_, generation_config_;
};

}  // namespace scantling
