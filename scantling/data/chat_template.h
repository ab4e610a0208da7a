// Chat templates. Model folders carry them as Jinja programs; there is no Jinja here. The known programs are recognised by the strings
// they contain, and the text they would make is made directly. A template that is not recognised, or that has a part whose effect is not
// known here, is refused: a wrong prompt would train a model on something it never sees again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scantling/data/tokenizer.h"

namespace scantling {

class TemplateText;

struct ChatMessage {
  std::string role;  // "system", "user", "assistant" (chatml and llama3 take others, too)
  std::string content;
};

struct ChatSegment {
  std::string text;
  bool assistant;  // what the assistant writes, its end token included; the rest is prompt
};

class ChatTemplate {
 public:
  enum class Kind { chatml, llama3, llama2, mistral, zephyr };

  // `bos`, `eos`: the tokenizer's start and end tokens as text, which some templates write. ConfigError listing the supported kinds.
  static ChatTemplate detect(std::string_view jinja, std::string bos = "", std::string eos = "");

  // The whole text; with `add_generation_prompt` up to where the assistant begins to write. DataError for an order of roles that the
  // template refuses.
  std::string render(const std::vector<ChatMessage>& messages, bool add_generation_prompt) const;
  // The same text in segments, for training on the assistant's part alone. Joined they are render(messages, false).
  std::vector<ChatSegment> render_with_spans(const std::vector<ChatMessage>& messages) const;

  Kind kind() const { return kind_; }

 private:
  void set_llama3_preamble(const TemplateText& text);
  std::string header(const std::string& role) const;
  std::vector<ChatMessage> with_default_system(const std::vector<ChatMessage>& messages) const;
  std::vector<ChatSegment> render_turns(const std::vector<ChatMessage>& messages) const;
  std::vector<ChatSegment> render_instructions(const std::vector<ChatMessage>& messages) const;

  Kind kind_ = Kind::chatml;
  std::string bos_, eos_;
  bool writes_bos_ = false;
  bool trims_ = false;                                  // white space around contents is dropped
  std::optional<std::string> system_;                   // the system message of chats that have none
  std::string system_preamble_;                         // before every system message
  std::string open_ = "[INST] ", close_ = " [/INST]";   // llama2 and mistral: around the user's text
  std::string before_answer_, before_end_, after_end_;  // and around the assistant's
};

// The template of a tokenizer. ConfigError if it has none or an unknown one.
ChatTemplate chat_template_of(const Tokenizer& tokenizer);

}  // namespace scantling
