// Reading of tokenizer files: a JSON value that knows the file and the key it came from, so that every complaint names both.
// The JSON document must outlive its fields.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scantling {

// The parsed file. Throws ConfigError if it cannot be read or is not JSON.
nlohmann::json read_json(const std::filesystem::path& file);
// The whole file as bytes. Throws ConfigError if it cannot be read.
std::string read_bytes(const std::filesystem::path& file);

class JsonField {
 public:
  JsonField(const nlohmann::json& value, std::string file, std::string key = "")
      : value_(&value), file_(std::move(file)), key_(std::move(key)) {}

  JsonField at(const std::string& key) const;                   // ConfigError if absent or null
  std::optional<JsonField> find(const std::string& key) const;  // none if absent or null
  std::vector<JsonField> items() const;                         // of an array
  std::string text() const;
  int64_t integer() const;
  int32_t token_id() const;  // 0 to 2^31 - 1
  bool flag() const;
  std::string text_or(const std::string& key, std::string otherwise) const;
  bool flag_or(const std::string& key, bool otherwise) const;
  const nlohmann::json& object() const;  // ConfigError unless this is an object
  const nlohmann::json& value() const { return *value_; }
  const std::string& file() const { return file_; }
  std::string place() const;  // "tokenizer.json: model.vocab"

  // Throws ConfigError: "<place> <fact>. <what to do>".
  [[noreturn]] void fail(std::string_view fact, std::string_view remedy) const;

 private:
  const nlohmann::json& expect(bool holds, std::string_view kind) const;

  const nlohmann::json* value_;
  std::string file_;
  std::string key_;
};

}  // namespace scantling
