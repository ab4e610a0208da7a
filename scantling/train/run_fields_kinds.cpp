#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scantling/train/run_fields_kinds.h"

namespace scantling {

std::string yaml_text(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '/' || c == '-'; };
  const bool safe = !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '/') &&
                    std::all_of(text.begin(), text.end(), plain) && text != "null" && text != "Null" && text != "NULL";
  return safe ? text : nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string yaml_list(const std::vector<std::string>& texts) {
  std::vector<std::string> written;
  for (const auto& text : texts) written.push_back(yaml_text(text));
  return fmt::format("[{}]", fmt::join(written, ", "));
}

std::string yaml_bytes(int64_t bytes) {
  if (bytes == 0) return "unlimited";
  for (const auto& [unit, shift] : {std::pair{"GiB", 30}, {"MiB", 20}, {"KiB", 10}})
    if (bytes % (int64_t{1} << shift) == 0) return fmt::format("{}{}", bytes >> shift, unit);
  return fmt::format("{}", bytes);
}

std::optional<bool> parse_flag(const RunValue& value) {
  if (value.kind != RunValue::Kind::plain) return std::nullopt;
  if (value.text == "true" || value.text == "True" || value.text == "TRUE") return true;
  if (value.text == "false" || value.text == "False" || value.text == "FALSE") return false;
  return std::nullopt;
}

std::optional<std::vector<std::string>> parse_texts(const RunValue& value) {
  if (value.is_text()) return std::vector<std::string>{value.text};
  if (value.kind != RunValue::Kind::list) return std::nullopt;
  std::vector<std::string> texts;
  for (const auto& item : value.items) {
    if (!item.is_text()) return std::nullopt;
    texts.push_back(item.text);
  }
  return texts;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " | ")); }

}  // namespace scantling
