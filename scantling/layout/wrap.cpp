#include "scantling/layout/wrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scantling/core/text.h"

namespace scantling {
namespace {

std::vector<Unit> group_by(const ModelDescription& model, const std::vector<std::string>& unit_names) {
  std::vector<Unit> units;
  std::map<std::string, size_t> place;
  for (size_t i = 0; i < model.parameters.size(); i++) {
    const auto [found, fresh] = place.emplace(unit_names[i], units.size());
    if (fresh) units.push_back({unit_names[i], {}});
    units[found->second].parameters.push_back(static_cast<int>(i));
  }
  return units;
}

std::vector<std::string> by_class(const ModelDescription& model, const std::vector<std::string>& classes) {
  std::vector<std::string> names;
  for (const auto& parameter : model.parameters) {
    std::string unit = "rest";
    for (const auto& scope : parameter.scopes)
      if (std::find(classes.begin(), classes.end(), scope.class_name) != classes.end()) {
        unit = scope.path.empty() ? scope.class_name : scope.path;
        break;
      }
    names.push_back(unit);
  }
  return names;
}

std::vector<std::string> by_size(const ModelDescription& model, int64_t min_parameters) {
  std::map<std::string, int64_t> elements;
  for (const auto& parameter : model.parameters)
    for (const auto& scope : parameter.scopes) elements[scope.path] += parameter.count();
  std::vector<std::string> names;
  for (const auto& parameter : model.parameters) {
    std::string unit = "rest";
    for (const auto& scope : parameter.scopes)
      if (elements[scope.path] >= min_parameters) unit = scope.path.empty() ? scope.class_name : scope.path;
    names.push_back(unit);
  }
  return names;
}

std::vector<std::string> by_block(const ModelDescription& model) {
  std::vector<std::string> names;
  for (const auto& parameter : model.parameters) names.push_back(model.blocks[static_cast<size_t>(parameter.blocks.front())].name);
  return names;
}

}  // namespace

std::vector<Unit> wrap_units(const ModelDescription& model, const WrapOptions& options, Faults& faults) {
  const auto known = model.class_names();
  for (const auto& name : options.classes) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto near = nearest_name(name, known);
    faults.add(fmt::format("layout.wrap: the model has no layer class \"{}\". Its classes are {}.{}", name, join_names(known, 20),
                           near.empty() ? "" : fmt::format(" Did you mean {}?", near)));
  }
  if (!options.classes.empty()) return group_by(model, by_class(model, options.classes));
  if (options.min_parameters > 0) return group_by(model, by_size(model, options.min_parameters));
  return group_by(model, by_block(model));
}

}  // namespace scantling
