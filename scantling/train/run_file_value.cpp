#include "scantling/train/run_file_value.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <functional>
#include <set>

namespace scantling {
namespace {

constexpr int deepest = 32;  // of nested values; also ends an alias that contains itself

using PlaceOf = std::function<std::string(const YAML::Node&)>;

RunValue read_node(const YAML::Node& node, const PlaceOf& place_of, int depth, Faults& faults);

void read_entries(const YAML::Node& node, const PlaceOf& place_of, int depth, RunValue& map, Faults& faults) {
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string place = place_of(entry.first);
    if (!entry.first.IsScalar()) {
      faults.add(fmt::format("{}: a key is no text. Every key is one word. Write `key: value`.", place));
      continue;
    }
    const std::string key = entry.first.Scalar();
    if (!seen.insert(key).second) {
      faults.add(fmt::format("{}: {} stands twice. A key has one value. Remove one of the lines.", place, key));
      continue;
    }
    map.entries.push_back({key, place, read_node(entry.second, place_of, depth + 1, faults)});
  }
}

RunValue read_node(const YAML::Node& node, const PlaceOf& place_of, int depth, Faults& faults) {
  RunValue value;
  value.place = place_of(node);
  if (depth > deepest) throw ConfigError(fmt::format("{}: values are nested more than {} deep. Flatten them.", value.place, deepest));
  if (node.IsScalar()) {
    value.kind = node.Tag() == "!" ? RunValue::Kind::quoted : RunValue::Kind::plain;
    value.text = node.Scalar();
    if (value.text.find('\0') != std::string::npos)
      faults.add(fmt::format("{}: holds the character NUL. No name or number has one. Remove it.", value.place));
  } else if (node.IsSequence()) {
    value.kind = RunValue::Kind::list;
    for (const auto& item : node) value.items.push_back(read_node(item, place_of, depth + 1, faults));
  } else if (node.IsMap()) {
    value.kind = RunValue::Kind::map;
    read_entries(node, place_of, depth, value, faults);
  }
  return value;
}

RunValue parse(std::string_view text, const std::string& name, const PlaceOf& place_of, Faults& faults) {
  try {
    const auto documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1)
      throw ConfigError(fmt::format("{}: holds {} documents. A run is one. Remove \"---\".", name, documents.size()));
    if (!documents.empty()) return read_node(documents[0], place_of, 0, faults);
  } catch (const YAML::Exception& error) {
    throw ConfigError(fmt::format("{}:{}: is not valid YAML: {} (column {}). Correct the line; a text with * {{ [ : # needs quotes.", name,
                                  error.mark.line + 1, error.msg, error.mark.column + 1));
  }
  return RunValue{.place = name};
}

}  // namespace

std::string RunValue::description() const {
  switch (kind) {
    case Kind::null: return "nothing";
    case Kind::plain: return text;
    case Kind::quoted: return fmt::format("the text \"{}\"", text);
    case Kind::list: return "a list";
    case Kind::map: return "a map";
  }
  return text;
}

RunValue parse_yaml(std::string_view text, const std::string& name, Faults& faults) {
  return parse(
      text, name, [&](const YAML::Node& node) { return fmt::format("{}:{}", name, node.Mark().line + 1); }, faults);
}

RunValue parse_flag_value(const std::string& text, const std::string& flag, std::string_view openings, Faults& faults) {
  if (!text.empty() && openings.find(text[0]) != std::string_view::npos)
    return parse(
        text, flag, [&](const YAML::Node&) { return flag; }, faults);
  return RunValue{.kind = RunValue::Kind::plain, .text = text, .place = flag};
}

}  // namespace scantling
