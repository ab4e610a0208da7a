// Roles are looked up from the nearest file to the farthest: tokenizer_config.json, special_tokens_map.json, the tokenizer's own file, and
// for ids generation_config.json before config.json.
#include "scantling/data/tokenizer_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "scantling/core/error.h"

namespace scantling {
namespace {

nlohmann::json read_if_there(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return nlohmann::json::object();
  nlohmann::json document = read_json(file);
  JsonField(document, file.string()).object();
  return document;
}

// Tokens are named by a string or by an object with "content".
std::string content_of(const JsonField& field) { return field.value().is_object() ? field.at("content").text() : field.text(); }

int32_t id_from_key(const std::string& key, const JsonField& field) {
  int32_t id = -1;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  if (error != std::errc() || end != key.data() + key.size() || id < 0)
    field.fail(fmt::format("has the key \"{}\"", key), "Keys must be token ids.");
  return id;
}

}  // namespace

TokenizerSettings::TokenizerSettings(const std::filesystem::path& folder) : folder_(folder) {
  const auto read = [&](const char* name) { return File{(folder / name).string(), read_if_there(folder / name)}; };
  config_ = read("tokenizer_config.json");
  special_map_ = read("special_tokens_map.json");
  added_ = read("added_tokens.json");
  model_config_ = read("config.json");
  generation_config_ = read("generation_config.json");
}

std::optional<JsonField> TokenizerSettings::field(const File& file, const std::string& key) const {
  return JsonField(file.document, file.name).find(key);
}

std::vector<AddedToken> TokenizerSettings::added_tokens() const {
  std::vector<AddedToken> tokens;
  if (const auto decoder = field(config_, "added_tokens_decoder")) {
    for (const auto& [key, unused] : decoder->object().items()) {
      tokens.push_back(read_added_token(decoder->at(key)));
      tokens.back().id = id_from_key(key, *decoder);
    }
  }
  const JsonField root(added_.document, added_.name);
  for (const auto& [content, unused] : added_.document.items()) {
    const bool listed = std::any_of(tokens.begin(), tokens.end(), [&](const AddedToken& token) { return token.content == content; });
    if (!listed) tokens.push_back({.content = content, .id = root.at(content).token_id(), .special = true});
  }
  return tokens;
}

std::optional<std::string> TokenizerSettings::token_named(const std::string& key) const {
  for (const File* file : {&config_, &special_map_}) {
    if (const auto named = field(*file, key)) return content_of(*named);
  }
  return std::nullopt;
}

std::vector<std::string> TokenizerSettings::special_names() const {
  std::vector<std::string> names;
  for (const char* key : {"bos_token", "eos_token", "pad_token", "unk_token"}) {
    if (auto name = token_named(key); name && !name->empty()) names.push_back(std::move(*name));
  }
  for (const File* file : {&config_, &special_map_}) {
    if (const auto more = field(*file, "additional_special_tokens")) {
      for (const JsonField& item : more->items()) names.push_back(content_of(item));
    }
  }
  return names;
}

bool TokenizerSettings::prefix_everywhere() const { return JsonField(config_.document, config_.name).flag_or("legacy", true); }

std::vector<int32_t> TokenizerSettings::model_ids(const std::string& key) const {
  for (const File* file : {&generation_config_, &model_config_}) {
    const auto found = field(*file, key);
    if (!found) continue;
    std::vector<int32_t> ids;
    for (const JsonField& item : found->value().is_array() ? found->items() : std::vector{*found}) {
      if (item.integer() != -1) ids.push_back(item.token_id());  // some files write -1 for "none"
    }
    return ids;
  }
  return {};
}

std::optional<int32_t> TokenizerSettings::role(const std::string& name, std::optional<int32_t> otherwise,
                                               const Tokenizer& tokenizer) const {
  const auto named = token_named(name + "_token");
  if (named && !named->empty()) return tokenizer.id_of(*named);
  if (otherwise) return otherwise;
  const auto ids = model_ids(name + "_token_id");
  return ids.empty() ? std::nullopt : std::optional(ids.front());
}

bool TokenizerSettings::adds_start(const Defaults& defaults, const Tokenizer& tokenizer) const {
  const JsonField root(config_.document, config_.name);
  if (root.flag_or("add_eos_token", false)) {
    root.at("add_eos_token")
        .fail("is true", "Only a start token can be added to texts. Set it to false; rows of training text get their end token anyway.");
  }
  if (const auto told = root.find("add_bos_token")) return told->flag();
  if (defaults.adds_start) return *defaults.adds_start;
  const std::string family = root.text_or("tokenizer_class", "");
  for (const char* name : {"Llama", "CodeLlama", "Gemma"}) {
    if (family.starts_with(name)) return true;
  }
  return defaults.sentencepiece && family.empty() && tokenizer.bos_id.has_value();
}

std::string TokenizerSettings::chat_template() const {
  if (std::filesystem::exists(folder_ / "chat_template.jinja")) return read_bytes(folder_ / "chat_template.jinja");
  const auto found = field(config_, "chat_template");
  if (!found) return "";
  if (found->value().is_string()) return found->text();
  for (const JsonField& item : found->items()) {
    if (item.at("name").text() == "default") return item.at("template").text();
  }
  found->fail("has no template called \"default\"", "Add one, or give a single template.");
}

void TokenizerSettings::apply(const Defaults& defaults, Tokenizer& tokenizer) const {
  tokenizer.bos_id = role("bos", defaults.bos_id, tokenizer);
  tokenizer.eos_id = role("eos", defaults.eos_id, tokenizer);
  tokenizer.pad_id = role("pad", defaults.pad_id, tokenizer);
  tokenizer.add_bos = adds_start(defaults, tokenizer);
  if (tokenizer.add_bos && !tokenizer.bos_id) {
    throw ConfigError(fmt::format(
        "{}: a start token is to be added, but none is named. Name it as bos_token, or set add_bos_token to false.", config_.name));
  }
  tokenizer.stop_ids = model_ids("eos_token_id");
  if (tokenizer.eos_id) tokenizer.stop_ids.push_back(*tokenizer.eos_id);
  std::sort(tokenizer.stop_ids.begin(), tokenizer.stop_ids.end());
  tokenizer.stop_ids.erase(std::unique(tokenizer.stop_ids.begin(), tokenizer.stop_ids.end()), tokenizer.stop_ids.end());
  tokenizer.chat_template = chat_template();
}

}  // namespace scantling
