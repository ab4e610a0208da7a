#include "scantling/models/description/config_reader.h"

#include <fmt/format.h>

#include <cmath>

namespace scantling {
namespace {

constexpr int64_t largest_whole = int64_t{1} << 31;  // far above any model's size, and products of two sizes still fit

const nlohmann::json nothing;

}  // namespace

void ConfigReader::wrong_type(const std::string& key, const std::string& needed) {
  fault(
      fmt::format("{} is {}. It must be {}.", key, object_.at(key).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), needed));
}

int64_t ConfigReader::whole(const std::string& key, int64_t missing, int64_t least) {
  if (!has(key)) return missing;
  const auto& value = object_.at(key);
  if (value.is_number_integer() && value >= least && value <= largest_whole) return value.get<int64_t>();
  wrong_type(key, fmt::format("a whole number from {} to {}", least, largest_whole));
  return missing;
}

double ConfigReader::number(const std::string& key, double missing) {
  if (!has(key)) return missing;
  const auto& value = object_.at(key);
  if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
  wrong_type(key, "a number");
  return missing;
}

double ConfigReader::positive_number(const std::string& key, double missing) {
  if (!has(key)) return missing;
  const auto& value = object_.at(key);
  if (value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() > 0) return value.get<double>();
  wrong_type(key, "a number above 0");
  return missing;
}

bool ConfigReader::flag(const std::string& key, bool missing) {
  if (!has(key)) return missing;
  if (object_.at(key).is_boolean()) return object_.at(key).get<bool>();
  wrong_type(key, "true or false");
  return missing;
}

std::string ConfigReader::text(const std::string& key, const std::string& missing) {
  if (!has(key)) return missing;
  if (object_.at(key).is_string()) return object_.at(key).get<std::string>();
  wrong_type(key, "a text");
  return missing;
}

std::vector<int64_t> ConfigReader::ids(const std::string& key, std::vector<int64_t> missing) {
  if (!has_key(key)) return missing;
  if (!has(key)) return {};
  const auto& value = object_.at(key);
  if (value.is_number_integer()) return {value.get<int64_t>()};
  bool whole_numbers = value.is_array();
  for (const auto& item : value) whole_numbers = whole_numbers && item.is_number_integer();
  if (whole_numbers) return value.get<std::vector<int64_t>>();
  wrong_type(key, "a whole number or a list of them");
  return missing;
}

const nlohmann::json& ConfigReader::object(const std::string& key) {
  if (!has(key)) return nothing;
  if (object_.at(key).is_object()) return object_.at(key);
  wrong_type(key, "an object, or null");
  return nothing;
}

}  // namespace scantling
