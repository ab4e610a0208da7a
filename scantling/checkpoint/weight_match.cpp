// When every name differs by the same prefix, the message says so: that is the commonest way for all names to be wrong.
#include "scantling/checkpoint/weight_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "scantling/core/text.h"

namespace scantling {
namespace {

bool known_buffer(std::string_view name) {
  return name.ends_with(".rotary_emb.inv_freq") || name.ends_with(".position_ids") || name == "position_ids";
}

std::vector<std::string> in_quotes_all(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const auto& name : names) result.push_back(in_quotes(name));
  return result;
}

std::string counted(size_t count) {
  return fmt::format("{} {}", with_commas(static_cast<int64_t>(count)), count == 1 ? "tensor" : "tensors");
}

std::string shape_text(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

// "The names in the folder begin with "x."." when that one prefix explains every missing name.
std::string prefix_hint(const std::vector<std::string>& missing, const std::vector<std::string>& unexpected) {
  if (missing.empty() || unexpected.size() < missing.size()) return "";
  const std::set<std::string> found(unexpected.begin(), unexpected.end()), wanted(missing.begin(), missing.end());
  const auto all = [](const auto& names, const auto& others, const std::string& prefix) {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return others.contains(prefix + name); });
  };
  for (const auto& name : unexpected) {
    if (!name.ends_with(missing[0])) continue;
    const auto prefix = name.substr(0, name.size() - missing[0].size());
    if (all(missing, found, prefix)) return fmt::format(" The folder's names begin with {}, the model's do not.", in_quotes(prefix));
  }
  for (const auto& name : missing) {
    if (!name.ends_with(unexpected[0])) continue;
    const auto prefix = name.substr(0, name.size() - unexpected[0].size());
    if (all(unexpected, wanted, prefix)) return fmt::format(" The model's names begin with {}, the folder's do not.", in_quotes(prefix));
  }
  return "";
}

void compare_shapes(const WeightFolder& folder, const std::vector<ExpectedTensor>& expected, WeightMatch& result) {
  std::vector<std::string> misshapen;
  for (const auto& tensor : expected) {
    const auto stored = result.stored_as.find(tensor.name);
    const auto& name = stored == result.stored_as.end() ? tensor.name : stored->second;
    if (!folder.contains(name) || folder.shape(name) == tensor.shape) continue;
    misshapen.push_back(
        fmt::format("{} is {}, the model needs {}", in_quotes(name), shape_text(folder.shape(name)), shape_text(tensor.shape)));
  }
  if (misshapen.empty()) return;
  result.faults.add(fmt::format("{}: {} of another shape: {}. Shapes must be equal. Check that config.json belongs to these weights.",
                                folder.folder().string(), counted(misshapen.size()), join_names(misshapen)));
}

}  // namespace

WeightMatch match(const WeightFolder& folder, const std::vector<ExpectedTensor>& expected,
                  const std::map<std::string, std::string>& tied_aliases) {
  WeightMatch result;
  std::set<std::string> wanted;
  std::vector<std::string> missing, unexpected, buffers;
  for (const auto& tensor : expected) {
    wanted.insert(tensor.name);
    if (folder.contains(tensor.name)) continue;
    const auto alias = std::find_if(tied_aliases.begin(), tied_aliases.end(),
                                    [&](const auto& entry) { return entry.second == tensor.name && folder.contains(entry.first); });
    if (alias == tied_aliases.end()) {
      missing.push_back(tensor.name);
    } else {
      result.stored_as[tensor.name] = alias->first;
    }
  }
  for (const auto& name : folder.names()) {
    if (wanted.contains(name)) continue;
    const auto alias = tied_aliases.find(name);
    if (alias != tied_aliases.end() && wanted.contains(alias->second)) {
      if (folder.contains(alias->second)) result.notices.push_back(fmt::format("{} is not read: it is tied to {}", name, alias->second));
    } else {
      (known_buffer(name) ? buffers : unexpected).push_back(name);
    }
  }
  if (!buffers.empty()) {
    result.notices.push_back(
        fmt::format("{} not read, the model computes them: {}", counted(buffers.size()), join_names(in_quotes_all(buffers), 3)));
  }
  const std::string hint = prefix_hint(missing, unexpected);
  if (!missing.empty()) {
    result.faults.add(fmt::format("{}: {} missing: {}. Every weight of the model must be there.{} Give the right folder or config.json.",
                                  folder.folder().string(), counted(missing.size()), join_names(in_quotes_all(missing)), hint));
  }
  if (!unexpected.empty()) {
    result.faults.add(
        fmt::format("{}: {} unexpected: {}. Every weight in the files must belong to the model.{} Give the right folder or config.json.",
                    folder.folder().string(), counted(unexpected.size()), join_names(in_quotes_all(unexpected)), hint));
  }
  compare_shapes(folder, expected, result);
  return result;
}

}  // namespace scantling
