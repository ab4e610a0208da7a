#include "scantling/train/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scantling/layout/pattern.h"
#include "scantling/program/context.h"
#include "scantling/report/table.h"

namespace scantling {
namespace {

using nlohmann::ordered_json;

std::vector<int> chosen(const Job& job, const std::string& pattern) {
  std::vector<std::string> names;
  for (const auto& parameter : job.model.description.parameters) names.push_back(parameter.name);
  std::vector<int> indices;
  if (pattern.empty()) {
    for (size_t p = 0; p < names.size(); p++) indices.push_back(static_cast<int>(p));
    return indices;
  }
  Faults faults;
  for (const auto& matched : apply_patterns({pattern}, names, "NAME", faults))
    for (const size_t p : matched) indices.push_back(static_cast<int>(p));
  faults.throw_if_any();
  return indices;
}

std::string owners_text(const Job& job, int parameter) {
  std::string text;
  for (Rank rank = 0; rank < job.layout.mesh.size(); rank++) {
    const auto rows = job.layout.stored_rows(parameter, rank);
    if (!rows.empty()) text += fmt::format("{}{}:[{}, {})", text.empty() ? "" : " ", rank, rows.begin, rows.end);
  }
  return text;
}

}  // namespace

std::string explain_text(const Job& job, const std::string& pattern) {
  std::vector<std::vector<std::string>> rows;
  for (const int p : chosen(job, pattern)) {
    const auto& info = job.model.description.parameters[static_cast<size_t>(p)];
    const auto& placement = job.layout.parameters[static_cast<size_t>(p)];
    rows.push_back({info.name, fmt::format("[{}]", fmt::join(info.shape, ", ")), placement.trainable ? "trained" : "frozen", placement.rule,
                    job.layout.units[static_cast<size_t>(placement.unit)].name, owners_text(job, p)});
  }
  return render_table({"parameter", "shape", "", "rule", "gathered with", "rank:[rows of dim 0)"}, rows);
}

ordered_json explain_json(const Job& job, const std::string& pattern) {
  auto list = ordered_json::array();
  for (const int p : chosen(job, pattern)) {
    const auto& info = job.model.description.parameters[static_cast<size_t>(p)];
    const auto& placement = job.layout.parameters[static_cast<size_t>(p)];
    auto owners = ordered_json::array();
    for (Rank rank = 0; rank < job.layout.mesh.size(); rank++) {
      const auto rows = job.layout.stored_rows(p, rank);
      owners.push_back({{"rank", rank}, {"begin", rows.begin}, {"end", rows.end}});
    }
    list.push_back({{"name", info.name},
                    {"rule", placement.rule},
                    {"shape", info.shape},
                    {"dtype", "float32"},
                    {"trainable", placement.trainable},
                    {"unit", job.layout.units[static_cast<size_t>(placement.unit)].name},
                    {"owners", owners}});
  }
  return {{"parameters", list}};
}

std::string program_text(const Job& job) {
  const auto context = training_context(job.model.description, job.layout, job.shape.micro_batches, defers_update(job.optimizer()));
  return to_text(compile(context), context.names);
}

}  // namespace scantling
