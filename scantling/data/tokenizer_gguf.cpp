// GGUF has vocabulary, merges or scores, and a name for the rest. The name's meaning (patterns, digits, start token) is in one table; each
// of the two models fills its own parts of the document.
#include "scantling/data/tokenizer_gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "scantling/core/error.h"
#include "scantling/core/text.h"
#include "scantling/data/tokenizer_unicode.h"

namespace scantling {
namespace {

using nlohmann::json;

enum TokenType : int32_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

constexpr const char* llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

struct Form {
  bool single_digits;  // every digit is a word
  bool llama3;         // Llama 3's pattern instead of GPT-2's
  bool adds_start;     // unless the file says otherwise
};

// By tokenizer.ggml.pre.
const std::map<std::string, Form>& forms() {
  static const std::map<std::string, Form> table = {
      {"gpt-2", {false, false, false}},    {"phi-2", {false, false, false}},   {"smollm", {true, false, false}},
      {"starcoder", {true, false, false}}, {"llama-bpe", {false, true, true}}, {"llama3", {false, true, true}},
  };
  return table;
}

[[noreturn]] void fail(const GgufTokenizer& gguf, std::string_view fact, std::string_view remedy) {
  throw CheckpointError(fmt::format("{}: {}. {}", gguf.source, fact, remedy));
}

int32_t type_of(const GgufTokenizer& gguf, size_t id) { return gguf.token_types.empty() ? normal : gguf.token_types[id]; }

json vocabulary_of(const GgufTokenizer& gguf) {
  json vocabulary = json::object();
  for (size_t id = 0; id < gguf.tokens.size(); ++id) {
    const std::string& token = gguf.tokens[id];
    const auto place = [&] { return fmt::format("tokenizer.ggml.tokens[{}]", id); };
    if (token.empty() || !is_utf8(token)) fail(gguf, place() + " is empty or not UTF-8", "A token must be text. Convert the model again.");
    if (const auto [there, is_new] = vocabulary.emplace(token, id); !is_new) {
      fail(gguf, fmt::format("{} is \"{}\", as is token {}", place(), token, there->get<int>()),
           "A token must have one id. Convert the model again.");
    }
  }
  return vocabulary;
}

json added_tokens_of(const GgufTokenizer& gguf) {
  json added = json::array();
  for (size_t id = 0; id < gguf.tokens.size(); ++id) {
    const int32_t type = type_of(gguf, id);
    if (type != control && type != unknown && type != user_defined) continue;
    added.push_back({{"id", id},
                     {"content", gguf.tokens[id]},
                     {"special", type != user_defined},
                     {"normalized", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"single_word", false}});
  }
  return added;
}

// The pairs of pieces that make a piece, best score first: what merging by score does, as ranks.
json merges_by_score(const GgufTokenizer& gguf) {
  std::unordered_map<std::string_view, int32_t> ids;
  const auto takes_part = [&](size_t id) { return type_of(gguf, id) == normal || type_of(gguf, id) == user_defined; };
  for (size_t id = 0; id < gguf.tokens.size(); ++id) {
    if (takes_part(id)) ids.emplace(gguf.tokens[id], static_cast<int32_t>(id));
  }
  struct Pair {
    float score;
    int32_t whole, left, right;
  };
  std::vector<Pair> pairs;
  for (const auto& [token, id] : ids) {
    for (size_t cut = utf8_length(static_cast<unsigned char>(token[0])); cut < token.size();
         cut += utf8_length(static_cast<unsigned char>(token[cut]))) {
      const auto left = ids.find(token.substr(0, cut)), right = ids.find(token.substr(cut));
      if (left != ids.end() && right != ids.end()) pairs.push_back({gguf.scores[id], id, left->second, right->second});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return std::tuple(-a.score, a.whole, a.left, a.right) < std::tuple(-b.score, b.whole, b.left, b.right);
  });
  json merges = json::array();
  for (const Pair& pair : pairs) merges.push_back({gguf.tokens[pair.left], gguf.tokens[pair.right]});
  return merges;
}

void add_llama_parts(const GgufTokenizer& gguf, json& out) {
  if (gguf.scores.size() != gguf.tokens.size()) {
    fail(gguf, fmt::format("tokenizer.ggml.scores has {} entries, tokens {}", gguf.scores.size(), gguf.tokens.size()),
         "Every token must have a score.");
  }
  json steps = json::array();
  json strip = json::array();
  if (gguf.add_space_prefix.value_or(true)) {
    steps.push_back({{"type", "Prepend"}, {"prepend", "▁"}});
    strip.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  steps.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}});
  json decoders = {{{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}}, {{"type", "ByteFallback"}}, {{"type", "Fuse"}}};
  for (json& step : strip) decoders.push_back(std::move(step));
  out["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
  out["pre_tokenizer"] = nullptr;
  out["decoder"] = {{"type", "Sequence"}, {"decoders", std::move(decoders)}};
  out["model"]["merges"] = merges_by_score(gguf);
  out["model"]["byte_fallback"] = true;
  out["model"]["fuse_unk"] = true;
  if (gguf.unknown_id) out["model"]["unk_token"] = gguf.tokens[*gguf.unknown_id];
}

void add_gpt2_parts(const GgufTokenizer& gguf, const Form& form, json& out) {
  const json byte_level = {{"type", "ByteLevel"},
                           {"add_prefix_space", gguf.add_space_prefix.value_or(false)},
                           {"trim_offsets", true},
                           {"use_regex", !form.llama3}};
  json steps = json::array();
  if (form.single_digits) steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
  if (form.llama3)
    steps.push_back({{"type", "Split"}, {"pattern", {{"Regex", llama3_pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  steps.push_back(byte_level);
  out["normalizer"] = nullptr;
  out["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
  out["decoder"] = byte_level;
  out["model"]["merges"] = gguf.merges;
  out["model"]["byte_fallback"] = false;
  out["model"]["fuse_unk"] = false;
  out["model"]["ignore_merges"] = form.llama3;
}

json start_template(const std::string& token, int32_t id) {
  const json start = {{"SpecialToken", {{"id", token}, {"type_id", 0}}}};
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const json second = {{"Sequence", {{"id", "B"}, {"type_id", 1}}}};
  return {{"type", "TemplateProcessing"},
          {"single", {start, text}},
          {"pair", {start, text, second}},
          {"special_tokens", {{token, {{"id", token}, {"ids", {id}}, {"tokens", {token}}}}}}};
}

void check_lists(const GgufTokenizer& gguf) {
  if (gguf.tokens.empty())
    fail(gguf, "tokenizer.ggml.tokens is missing or empty", "A vocabulary is required. Take a GGUF file with a tokenizer.");
  if (!gguf.token_types.empty() && gguf.token_types.size() != gguf.tokens.size()) {
    fail(gguf, fmt::format("tokenizer.ggml.token_type has {} entries, tokens {}", gguf.token_types.size(), gguf.tokens.size()),
         "They must be equally many.");
  }
  for (const auto& [name, id] :
       {std::pair("bos", gguf.bos_id), {"eos", gguf.eos_id}, {"unknown", gguf.unknown_id}, {"padding", gguf.padding_id}}) {
    if (id && (*id < 0 || *id >= static_cast<int64_t>(gguf.tokens.size()))) {
      fail(gguf, fmt::format("tokenizer.ggml.{}_token_id is {}", name, *id),
           fmt::format("It must be a token, 0 to {}.", gguf.tokens.size() - 1));
    }
  }
}

const Form& form_of(const GgufTokenizer& gguf) {
  static const Form llama{false, false, true};
  if (gguf.model == "llama") return llama;
  if (gguf.model != "gpt2") {
    fail(gguf, fmt::format("tokenizer.ggml.model is \"{}\"", gguf.model),
         "Supported are gpt2 and llama. Import the Hugging Face folder instead.");
  }
  const auto found = forms().find(gguf.pre);
  if (found != forms().end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, form] : forms()) names.push_back(name);
  fail(gguf, fmt::format("tokenizer.ggml.pre is \"{}\"", gguf.pre),
       fmt::format("Supported are {}. Import the Hugging Face folder instead.", join_names(names)));
}

json config_of(const GgufTokenizer& gguf, bool add_bos) {
  json config = {{"add_bos_token", add_bos}, {"add_eos_token", false}, {"clean_up_tokenization_spaces", false}};
  config["tokenizer_class"] = gguf.model == "llama" ? "LlamaTokenizer" : "PreTrainedTokenizerFast";
  const std::pair<const char*, std::optional<int32_t>> roles[] = {
      {"bos_token", gguf.bos_id}, {"eos_token", gguf.eos_id}, {"unk_token", gguf.unknown_id}, {"pad_token", gguf.padding_id}};
  for (const auto& [name, id] : roles) {
    if (id) config[name] = gguf.tokens[*id];
  }
  if (!gguf.chat_template.empty()) config["chat_template"] = gguf.chat_template;
  return config;
}

}  // namespace

TokenizerDocuments tokenizer_json_from_gguf(const GgufTokenizer& gguf) {
  const Form& form = form_of(gguf);
  check_lists(gguf);
  const bool add_bos = gguf.add_bos.value_or(form.adds_start);
  if (add_bos && !gguf.bos_id)
    fail(gguf, "a start token is to be added but tokenizer.ggml.bos_token_id is missing", "Name it, or set add_bos_token to false.");
  json out = {{"version", "1.0"},
              {"truncation", nullptr},
              {"padding", nullptr},
              {"added_tokens", added_tokens_of(gguf)},
              {"post_processor", nullptr}};
  out["model"] = {{"type", "BPE"}, {"dropout", nullptr}, {"unk_token", nullptr}, {"vocab", vocabulary_of(gguf)}};
  if (gguf.model == "llama") {
    add_llama_parts(gguf, out);
  } else {
    add_gpt2_parts(gguf, form, out);
  }
  if (add_bos) out["post_processor"] = start_template(gguf.tokens[*gguf.bos_id], *gguf.bos_id);
  return {std::move(out), config_of(gguf, add_bos)};
}

}  // namespace scantling
