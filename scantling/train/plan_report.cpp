#include "scantling/train/plan_report.h"

#include <fmt/format.h>

#include "scantling/core/bytes.h"
#include "scantling/core/text.h"
#include "scantling/report/table.h"

namespace scantling {
namespace {

using nlohmann::ordered_json;

std::string mesh_text(const Job& job) {
  std::string text;
  for (const auto& axis : job.layout.mesh.axes())
    if (axis.size > 1) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", axis.name, axis.size);
  return text.empty() ? "one device" : text;
}

std::string device_table(const Job& job, const Price& price) {
  std::vector<std::string> header{"device"};
  for (int c = 0; c < num_categories; c++) header.emplace_back(name_of(static_cast<Category>(c)));
  header.insert(header.end(), {"peak", "budget"});
  std::vector<std::vector<std::string>> rows;
  for (const auto& rank : price.ranks) {
    std::vector<std::string> row{std::to_string(rank.rank)};
    for (const int64_t bytes : rank.peak.categories) row.push_back(bytes == 0 ? "-" : format_bytes(bytes));
    row.push_back(format_bytes(rank.peak.bytes));
    row.push_back(job.options.devices.memory_bytes > 0 ? format_bytes(job.options.devices.memory_bytes) : "-");
    rows.push_back(std::move(row));
  }
  return render_table(header, rows);
}

ordered_json categories_json(const CategoryBytes& categories) {
  ordered_json json;
  for (int c = 0; c < num_categories; c++) json[std::string(name_of(static_cast<Category>(c)))] = categories[static_cast<size_t>(c)];
  return json;
}

}  // namespace

int64_t trainable_parameters(const Job& job) {
  int64_t count = 0;
  for (size_t p = 0; p < job.layout.parameters.size(); p++)
    if (job.layout.parameters[p].trainable) count += job.model.description.parameters[p].count();
  return count;
}

std::string plan_text(const Job& job, const Price& price, const std::vector<Remedy>& remedies) {
  const auto& train = job.options.train;
  const auto& first = price.ranks.front();
  std::string text = fmt::format(
      "{}: {} parameters, {} trained\nmesh {}; {} rows of {} tokens a step ({} a device x {} accumulation)\n\n{}\n", job.options.model,
      with_commas(job.model.description.parameter_count()), with_commas(trainable_parameters(job)), mesh_text(job), train.global_batch_size,
      job.shape.length, job.shape.rows, job.shape.micro_batches, device_table(job, price));
  text += fmt::format("The peak is at `{}`; the largest tensors there:\n", first.instruction);
  for (size_t i = 0; i < std::min<size_t>(3, first.tensors.size()); i++)
    text += fmt::format("  {} {}\n", format_bytes(first.tensors[i].second), first.tensors[i].first);
  const int64_t budget = job.options.devices.memory_bytes;
  if (price.fits(budget)) {
    text += budget > 0 ? fmt::format("It fits: {} of {} at most.\n", format_bytes(price.largest_peak()), format_bytes(budget))
                       : "No budget is set (devices.memory).\n";
    return text;
  }
  text += fmt::format("It does not fit: {} are needed, {} more than devices.memory ({}).\n", format_bytes(price.largest_peak()),
                      format_bytes(price.largest_peak() - budget), format_bytes(budget));
  if (!remedies.empty()) text += "What would help:\n";
  for (const auto& remedy : remedies)
    text += fmt::format("  {:10} {} {}\n", format_bytes(remedy.peak_bytes), remedy.fits ? "fits " : "      ", remedy.change);
  return text;
}

ordered_json plan_json(const Job& job, const Price& price, const std::vector<Remedy>& remedies) {
  ordered_json json{{"fits", price.fits(job.options.devices.memory_bytes)},
                    {"parameters", job.model.description.parameter_count()},
                    {"trainable_parameters", trainable_parameters(job)}};
  auto devices = ordered_json::array();
  for (const auto& rank : price.ranks)
    devices.push_back({{"rank", rank.rank},
                       {"budget_bytes", job.options.devices.memory_bytes},
                       {"peak_bytes", rank.peak.bytes},
                       {"categories", categories_json(rank.peak.categories)},
                       {"category_peaks", categories_json(rank.category_peaks)},
                       {"instruction", rank.instruction},
                       {"bytes_received_per_step", rank.bytes_received}});
  json["devices"] = devices;
  json["remedies"] = ordered_json::array();
  for (const auto& remedy : remedies)
    json["remedies"].push_back({{"change", remedy.change}, {"peak_bytes", remedy.peak_bytes}, {"fits", remedy.fits}});
  return json;
}

}  // namespace scantling
