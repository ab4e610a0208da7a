// Two shapes cover the known programs: turns with a header each (chatml, llama3, zephyr), and instructions between marks (llama2, mistral).
// What differs inside a shape was read out of the template by detect().
#include "scantling/data/chat_template.h"

#include <fmt/format.h>

#include <algorithm>

#include "scantling/core/error.h"
#include "scantling/data/chat_template_text.h"

namespace scantling {
namespace {

constexpr const char* supported =
    "Supported are chatml, llama3, llama2, mistral and zephyr. Render the chat yourself and use plain text data.";

bool is_one_of(const std::string& role, std::initializer_list<const char*> roles) {
  return std::any_of(roles.begin(), roles.end(), [&](const char* known) { return role == known; });
}

[[noreturn]] void refuse_role(const std::string& role, size_t index, std::string_view rule) {
  throw DataError(fmt::format("Message {} has the role \"{}\". {} Correct the order of the messages.", index + 1, role, rule));
}

// Parts that change the text in ways not made here.
void refuse_unknown_parts(const TemplateText& text) {
  for (const char* part : {"<think>", "reasoning_content", "[AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]", "true == true", "default_system"}) {
    if (text.has(part)) throw ConfigError(fmt::format("The chat template has \"{}\", whose effect is not known here. {}", part, supported));
  }
  if (text.has("set system_message") && !text.has("<<SYS>>") && !text.has("<|start_header_id|>")) {
    throw ConfigError(fmt::format("The chat template has \"set system_message\", whose effect is not known here. {}", supported));
  }
}

}  // namespace

// Llama 3.1 and later begin every chat with two dates. Today's would make training depend on the day: the template's own date is used.
void ChatTemplate::set_llama3_preamble(const TemplateText& text) {
  system_ = "";
  system_preamble_ = fmt::format("Cutting Knowledge Date: {}\nToday Date: {}\n\n", text.between("Cutting Knowledge Date: ", "\n"),
                                 text.between("date_string = \"", "\""));
}

ChatTemplate ChatTemplate::detect(std::string_view jinja, std::string bos, std::string eos) {
  ChatTemplate made;
  made.bos_ = std::move(bos);
  made.eos_ = std::move(eos);
  const TemplateText text(jinja);
  made.writes_bos_ = text.has("bos_token");
  made.trims_ = text.has("| trim") || text.has("|trim") || text.has(".strip()");
  refuse_unknown_parts(text);
  if (text.has("<|im_start|>")) {
    made.kind_ = Kind::chatml;
    made.system_ = text.literal_between("<|im_start|>system\n", "<|im_end|>");
  } else if (text.has("<|start_header_id|>") && text.has("<|eot_id|>")) {
    made.kind_ = Kind::llama3;
    if (text.has("Cutting Knowledge Date")) made.set_llama3_preamble(text);
  } else if (text.has("[INST]") && text.has("<<SYS>>")) {
    made.kind_ = Kind::llama2;
    made.before_answer_ = made.before_end_ = " ";
  } else if (text.has("[INST]")) {
    made.kind_ = Kind::mistral;
    if (!text.has("[INST] ")) made.open_ = "[INST]";
    if (!text.has(" [/INST]")) made.close_ = "[/INST]";
    if (text.has("' ' + message") || text.has("\" \" + message")) made.before_answer_ = " ";
    if (text.has("eos_token + ' '") || text.has("eos_token + \" \"")) made.after_end_ = " ";
  } else if (text.has("<|user|>") && text.has("<|assistant|>") && text.has("eos_token") && !text.has("<|end|>")) {
    made.kind_ = Kind::zephyr;
  } else {
    throw ConfigError(fmt::format("The chat template is of an unknown kind (\"{}...\"). {}", jinja.substr(0, 60), supported));
  }
  return made;
}

std::string ChatTemplate::header(const std::string& role) const {
  switch (kind_) {
    case Kind::chatml: return "<|im_start|>" + role + "\n";
    case Kind::llama3: return "<|start_header_id|>" + role + "<|end_header_id|>\n\n";
    default: return "<|" + role + "|>\n";
  }
}

std::vector<ChatMessage> ChatTemplate::with_default_system(const std::vector<ChatMessage>& messages) const {
  std::vector<ChatMessage> all = messages;
  if (system_ && (all.empty() || all.front().role != "system")) all.insert(all.begin(), {"system", *system_});
  return all;
}

// chatml, llama3, zephyr: a header, the content, an end mark, whoever speaks.
std::vector<ChatSegment> ChatTemplate::render_turns(const std::vector<ChatMessage>& messages) const {
  const std::string end = kind_ == Kind::chatml ? "<|im_end|>" : kind_ == Kind::llama3 ? "<|eot_id|>" : eos_;
  const std::string after = kind_ == Kind::llama3 ? "" : "\n";
  std::vector<ChatSegment> segments;
  if (writes_bos_) segments.push_back({bos_, false});
  const std::vector<ChatMessage> all = with_default_system(messages);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [role, raw] = all[i];
    if (kind_ == Kind::zephyr && !is_one_of(role, {"system", "user", "assistant"})) {
      refuse_role(role, i, "Roles must be system, user or assistant.");
    }
    const std::string content = (i == 0 && role == "system" ? system_preamble_ : "") + (trims_ ? trimmed(raw) : raw);
    segments.push_back({header(role), false});
    segments.push_back({content + end, role == "assistant"});
    if (!after.empty()) segments.push_back({after, false});
  }
  return segments;
}

// llama2, mistral: the user's text between marks, the assistant's after them, in turns.
std::vector<ChatSegment> ChatTemplate::render_instructions(const std::vector<ChatMessage>& messages) const {
  const auto ready = [&](const std::string& content) { return trims_ ? trimmed(content) : content; };
  std::vector<ChatSegment> segments;
  const bool has_system = !messages.empty() && messages.front().role == "system";
  if (has_system && kind_ == Kind::mistral)
    refuse_role("system", 0, "This template has no system message: put its text into the first user message.");
  if (writes_bos_ && kind_ == Kind::mistral) segments.push_back({bos_, false});
  for (size_t i = has_system ? 1 : 0, turn = 0; i < messages.size(); ++i, ++turn) {
    const auto& [role, content] = messages[i];
    if (role != (turn % 2 == 0 ? "user" : "assistant")) refuse_role(role, i, "Roles must alternate: user, assistant, user, ...");
    if (turn % 2 == 1) {
      segments.push_back({before_answer_ + ready(content) + before_end_ + eos_, true});
      if (!after_end_.empty()) segments.push_back({after_end_, false});
      continue;
    }
    const bool with_system = has_system && turn == 0;
    const std::string text = with_system ? "<<SYS>>\n" + messages.front().content + "\n<</SYS>>\n\n" + content : content;
    segments.push_back({(kind_ == Kind::llama2 ? bos_ : "") + open_ + ready(text) + close_, false});
  }
  return segments;
}

std::vector<ChatSegment> ChatTemplate::render_with_spans(const std::vector<ChatMessage>& messages) const {
  if (messages.empty()) throw DataError("The chat has no messages. A chat must have at least one. Add a user message.");
  return kind_ == Kind::llama2 || kind_ == Kind::mistral ? render_instructions(messages) : render_turns(messages);
}

std::string ChatTemplate::render(const std::vector<ChatMessage>& messages, bool add_generation_prompt) const {
  std::string text;
  for (const ChatSegment& segment : render_with_spans(messages)) text += segment.text;
  if (add_generation_prompt && kind_ != Kind::llama2 && kind_ != Kind::mistral) text += header("assistant");
  return text;
}

ChatTemplate chat_template_of(const Tokenizer& tokenizer) {
  if (tokenizer.chat_template.empty()) {
    throw ConfigError(
        fmt::format("The tokenizer has no chat template. A chat needs one. Add \"chat_template\" to tokenizer_config.json. {}", supported));
  }
  const auto text_of = [&](const std::optional<int32_t>& id) { return id ? tokenizer.piece(*id) : std::string(); };
  return ChatTemplate::detect(tokenizer.chat_template, text_of(tokenizer.bos_id), text_of(tokenizer.eos_id));
}

}  // namespace scantling
