// Reads typed values out of a model's config.json and gathers every fault, each naming the file and the key.
// A missing key and an explicit null both mean "the library's default", save where the library itself tells them apart.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scantling/core/error.h"

namespace scantling {

class ConfigReader {
 public:
  // `prefix` stands before keys in messages ("rope_scaling."). References must outlive the reader.
  ConfigReader(const nlohmann::json& object, std::string file, Faults& faults, std::string prefix = "")
      : object_(object), file_(std::move(file)), prefix_(std::move(prefix)), faults_(faults) {}

  bool has_key(const std::string& key) const { return object_.contains(key); }  // perhaps null
  bool has(const std::string& key) const { return object_.contains(key) && !object_.at(key).is_null(); }

  // The value, or `missing` when there is none; a value of the wrong type or below `least` is a fault and gives `missing`.
  int64_t whole(const std::string& key, int64_t missing, int64_t least = 1);
  double number(const std::string& key, double missing);
  double positive_number(const std::string& key, double missing);
  bool flag(const std::string& key, bool missing);
  std::string text(const std::string& key, const std::string& missing);
  std::vector<int64_t> ids(const std::string& key, std::vector<int64_t> missing);  // one id or a list; null means none
  // The object under `key`; null (a JSON null) when there is none or it is no object, which is a fault.
  const nlohmann::json& object(const std::string& key);

  // Adds "<file>: <prefix><fault>"; the fault begins with the key.
  void fault(const std::string& fault) { faults_.add(file_ + ": " + prefix_ + fault); }
  ConfigReader inside(const nlohmann::json& object, const std::string& key) const {
    return ConfigReader(object, file_, faults_, prefix_ + key + ".");
  }

 private:
  void wrong_type(const std::string& key, const std::string& needed);

  const nlohmann::json& object_;
  std::string file_;
  std::string prefix_;
  Faults& faults_;
};

}  // namespace scantling
