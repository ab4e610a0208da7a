#include "scantling/models/description/description.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace scantling {

int64_t ParameterInfo::count() const { return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()); }

int64_t ModelDescription::parameter_count() const {
  int64_t total = 0;
  for (const auto& parameter : parameters) total += parameter.count();
  return total;
}

int ModelDescription::index_of(const std::string& name) const {
  for (size_t i = 0; i < parameters.size(); i++)
    if (parameters[i].name == name) return static_cast<int>(i);
  return -1;
}

std::vector<std::string> ModelDescription::class_names() const {
  std::vector<std::string> names;
  for (const auto& parameter : parameters)
    for (const auto& scope : parameter.scopes)
      if (std::find(names.begin(), names.end(), scope.class_name) == names.end()) names.push_back(scope.class_name);
  return names;
}

}  // namespace scantling
