// Chat templates against what the Jinja programs make of the same messages (made with jinja2 as Hugging Face sets it up).
#include <gtest/gtest.h>

#include "scantling/core/error.h"
#include "scantling/data/chat_template.h"
#include "tiny_tokenizers.h"

namespace scantling {
namespace {

constexpr const char* chatml_template =
    R"jinja({% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou )jinja"
    R"jinja(help.<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + )jinja"
    R"jinja('\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})jinja";

constexpr const char* llama3_template =
    R"jinja({% set loop_messages = messages %}{% for message in loop_messages %})jinja"
    R"jinja({% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + )jinja"
    R"jinja('<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }})jinja"
    R"jinja({% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %})jinja";

constexpr const char* llama2_template =
    R"jinja({% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %})jinja"
    R"jinja({% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %})jinja"
    R"jinja({% set system_message = false %}{% endif %}{% for message in loop_messages %})jinja"
    R"jinja({% if loop.index0 == 0 and system_message != false %})jinja"
    R"jinja({% set content = '<<SYS>>\n' + system_message + '\n<</SYS>>\n\n' + message['content'] %}{% else %})jinja"
    R"jinja({% set content = message['content'] %}{% endif %})jinja"
    R"jinja({% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }})jinja"
    R"jinja({% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %})jinja";

constexpr const char* mistral_template =
    R"jinja({{ bos_token }}{% for message in messages %})jinja"
    R"jinja({% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }})jinja"
    R"jinja({% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token}}{% endif %}{% endfor %})jinja";

constexpr const char* zephyr_template = R"jinja({% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>\n'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %})jinja";

constexpr const char* llama31_template = R"jinja({{- bos_token }}
{%- if not date_string is defined %}
    {%- set date_string = "26 Jul 2024" %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\n\n" }}
{{- "Cutting Knowledge Date: December 2023\n" }}
{{- "Today Date: " + date_string + "\n\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
)jinja";

const ChatMessage system_message{"system", "Be short."}, first{"user", " Hi "}, answer{"assistant", "Yes?"}, second{"user", "Bye"};
const std::vector<ChatMessage> with_system = {system_message, first, answer, second};
const std::vector<ChatMessage> without_system = {first, answer};

std::string rendered(const char* jinja, const std::vector<ChatMessage>& messages, bool add_generation_prompt) {
  return ChatTemplate::detect(jinja, "<s>", "</s>").render(messages, add_generation_prompt);
}

TEST(ChatTemplate, Chatml) {
  EXPECT_EQ(rendered(chatml_template, with_system, true),
            "<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n<|im_start|>assistant\nYes?<|im_end|>\n"
            "<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(rendered(chatml_template, without_system, false),
            "<|im_start|>system\nYou help.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n<|im_start|>assistant\nYes?<|im_end|>\n");
}

TEST(ChatTemplate, Llama3) {
  EXPECT_EQ(rendered(llama3_template, with_system, true),
            "<s><|start_header_id|>system<|end_header_id|>\n\nBe short.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\nYes?<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(rendered(llama3_template, without_system, false),
            "<s><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nYes?<|eot_id|>");
}

TEST(ChatTemplate, Llama31BeginsWithItsOwnDate) {
  EXPECT_EQ(rendered(llama31_template, without_system, false),
            "<s><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nYes?<|eot_id|>");
  EXPECT_NE(rendered(llama31_template, with_system, false).find("26 Jul 2024\n\nBe short.<|eot_id|>"), std::string::npos);
}

TEST(ChatTemplate, Llama2) {
  EXPECT_EQ(rendered(llama2_template, with_system, true),
            "<s>[INST] <<SYS>>\nBe short.\n<</SYS>>\n\n Hi [/INST] Yes? </s><s>[INST] Bye [/INST]");
  EXPECT_EQ(rendered(llama2_template, without_system, false), "<s>[INST] Hi [/INST] Yes? </s>");
}

TEST(ChatTemplate, Mistral) {
  EXPECT_EQ(rendered(mistral_template, without_system, false), "<s>[INST]  Hi  [/INST]Yes?</s>");
  EXPECT_EQ(rendered(mistral_template, {first}, true), "<s>[INST]  Hi  [/INST]");
}

TEST(ChatTemplate, Zephyr) {
  EXPECT_EQ(rendered(zephyr_template, with_system, true),
            "<|system|>\nBe short.</s>\n<|user|>\n Hi </s>\n<|assistant|>\nYes?</s>\n<|user|>\nBye</s>\n<|assistant|>\n");
  EXPECT_EQ(rendered(zephyr_template, without_system, false), "<|user|>\n Hi </s>\n<|assistant|>\nYes?</s>\n");
}

TEST(ChatTemplate, LineBreaksInTheTemplateMayBeRealOnes) {
  std::string jinja = chatml_template;
  for (size_t at = jinja.find("\\n"); at != std::string::npos; at = jinja.find("\\n")) jinja.replace(at, 2, "\n");
  EXPECT_EQ(rendered(jinja.c_str(), without_system, true), rendered(chatml_template, without_system, true));
}

TEST(ChatTemplate, SpansAreTheAssistantsTextWithItsEndToken) {
  const std::pair<const char*, const char*> expected[] = {{chatml_template, "Yes?<|im_end|>"},
                                                          {llama3_template, "Yes?<|eot_id|>"},
                                                          {llama2_template, " Yes? </s>"},
                                                          {mistral_template, "Yes?</s>"},
                                                          {zephyr_template, "Yes?</s>"}};
  for (const auto& [jinja, written] : expected) {
    const ChatTemplate chat = ChatTemplate::detect(jinja, "<s>", "</s>");
    std::string all, assistant;
    for (const ChatSegment& segment : chat.render_with_spans(without_system)) {
      all += segment.text;
      if (segment.assistant) assistant += segment.text;
    }
    EXPECT_EQ(all, chat.render(without_system, false));
    EXPECT_EQ(assistant, written);
  }
}

TEST(ChatTemplate, RefusesWhatItDoesNotKnow) {
  for (const char* jinja : {"", "{{ messages }}", "{{ '<|im_start|>' }}{% set system_message = 'Hi' %}", "{{ '<|im_start|>' + '<think>' }}",
                            "[AVAILABLE_TOOLS] [INST] ", "<|user|> <|end|> <|assistant|> eos_token"}) {
    const std::string message = failure_of<ConfigError>([&] { ChatTemplate::detect(jinja); });
    EXPECT_NE(message.find("chatml, llama3, llama2, mistral and zephyr"), std::string::npos) << jinja << ": " << message;
  }
}

TEST(ChatTemplate, RefusesRolesOutOfOrder) {
  EXPECT_THROW(rendered(mistral_template, with_system, true), DataError);
  EXPECT_THROW(rendered(mistral_template, {first, second}, true), DataError);
  EXPECT_THROW(rendered(llama2_template, {answer}, true), DataError);
  EXPECT_THROW(rendered(zephyr_template, {{"tool", "x"}}, true), DataError);
  EXPECT_THROW(rendered(chatml_template, {}, true), DataError);
}

TEST(ChatTemplate, ComesWithTheTokenizer) {
  const nlohmann::json config = {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"chat_template", mistral_template}};
  const std::string document = byte_level_document().dump();
  const auto tokenizer = tokenizer_from({{"tokenizer.json", document}, {"tokenizer_config.json", config.dump()}});
  EXPECT_EQ(chat_template_of(*tokenizer).render({first}, true), "<s>[INST]  Hi  [/INST]");
  EXPECT_THROW(chat_template_of(*tokenizer_from({{"tokenizer.json", document}})), ConfigError);
  const auto listed = tokenizer_from({{"tokenizer.json", document}, {"chat_template.jinja", chatml_template}});
  EXPECT_EQ(chat_template_of(*listed).kind(), ChatTemplate::Kind::chatml);
}

}  // namespace
}  // namespace scantling
