// A field's key grows as one steps into it ("model.merges[3]"), so the check that fails can name the place without being told.
#include "scantling/data/tokenizer_fields.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "scantling/core/error.h"

namespace scantling {

std::string read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw ConfigError(
        fmt::format("{} cannot be opened. A tokenizer file must be readable. Check the path and its permissions.", file.string()));
  }
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

nlohmann::json read_json(const std::filesystem::path& file) {
  const std::string bytes = read_bytes(file);
  try {
    return nlohmann::json::parse(bytes);
  } catch (const nlohmann::json::exception& fault) {
    throw ConfigError(fmt::format("{} is not JSON ({}). A tokenizer file must be whole. Copy it again.", file.string(), fault.what()));
  }
}

std::string JsonField::place() const { return key_.empty() ? file_ + ":" : file_ + ": " + key_; }

void JsonField::fail(std::string_view fact, std::string_view remedy) const {
  throw ConfigError(fmt::format("{} {}. {}", place(), fact, remedy));
}

const nlohmann::json& JsonField::expect(bool holds, std::string_view kind) const {
  if (!holds) {
    fail(fmt::format("is {} (got {})", value_->type_name(),
                     value_->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, 60)),
         fmt::format("It must be {}.", kind));
  }
  return *value_;
}

std::optional<JsonField> JsonField::find(const std::string& key) const {
  const auto found = object().find(key);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return JsonField(*found, file_, key_.empty() ? key : key_ + "." + key);
}

JsonField JsonField::at(const std::string& key) const {
  const auto field = find(key);
  if (!field) fail(fmt::format("has no \"{}\"", key), "The key is required.");
  return *field;
}

std::vector<JsonField> JsonField::items() const {
  expect(value_->is_array(), "an array");
  std::vector<JsonField> fields;
  fields.reserve(value_->size());
  for (size_t i = 0; i < value_->size(); ++i) fields.emplace_back((*value_)[i], file_, fmt::format("{}[{}]", key_, i));
  return fields;
}

std::string JsonField::text() const { return expect(value_->is_string(), "a string").get<std::string>(); }
int64_t JsonField::integer() const { return expect(value_->is_number_integer(), "an integer").get<int64_t>(); }
bool JsonField::flag() const { return expect(value_->is_boolean(), "true or false").get<bool>(); }
const nlohmann::json& JsonField::object() const { return expect(value_->is_object(), "an object"); }

int32_t JsonField::token_id() const {
  const int64_t id = integer();
  expect(id >= 0 && id <= std::numeric_limits<int32_t>::max(), "a token id, 0 to 2147483647");
  return static_cast<int32_t>(id);
}

std::string JsonField::text_or(const std::string& key, std::string otherwise) const {
  const auto field = find(key);
  return field ? field->text() : std::move(otherwise);
}

bool JsonField::flag_or(const std::string& key, bool otherwise) const {
  const auto field = find(key);
  return field ? field->flag() : otherwise;
}

}  // namespace scantling
