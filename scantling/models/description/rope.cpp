#include "scantling/models/description/rope.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace scantling {
namespace {

constexpr std::pair<std::string_view, RopeKind> kinds[] = {
    {"default", RopeKind::standard}, {"linear", RopeKind::linear}, {"dynamic", RopeKind::dynamic}, {"llama3", RopeKind::llama3}};

std::optional<RopeKind> kind_of(ConfigReader& scaling) {
  if (scaling.has("type") && scaling.has("rope_type") && scaling.text("type", "") != scaling.text("rope_type", "")) {
    scaling.fault(fmt::format("type is \"{}\" but rope_type is \"{}\". They must agree. Remove the wrong one.", scaling.text("type", ""),
                              scaling.text("rope_type", "")));
    return std::nullopt;
  }
  const std::string key = scaling.has("rope_type") ? "rope_type" : "type";
  const std::string name = scaling.text(key, "default");
  for (const auto& [known, kind] : kinds)
    if (name == known) return kind;
  scaling.fault(fmt::format("{} is \"{}\". This version knows default, linear, dynamic and llama3.", key, name));
  return std::nullopt;
}

// A key that the scaling cannot do without.
double needed(ConfigReader& scaling, const std::string& key, RopeKind kind, double missing) {
  if (!scaling.has(key)) scaling.fault(fmt::format("{} is missing. The scaling {} needs it.", key, name_of(kind)));
  return scaling.positive_number(key, missing);
}

void parse_scaling(ConfigReader& scaling, int64_t max_positions, RopeConfig& rope) {
  const auto kind = kind_of(scaling);
  if (!kind) return;
  rope.kind = *kind;
  if (scaling.number("partial_rotary_factor", 1.0) != 1.0)
    scaling.fault("partial_rotary_factor is not 1. This version rotates whole heads only.");
  if (rope.kind == RopeKind::standard) return;
  rope.factor = needed(scaling, "factor", rope.kind, 1.0);
  if (rope.factor < 1.0) scaling.fault(fmt::format("factor is {}. It must be 1 or more.", rope.factor));
  if (rope.kind == RopeKind::dynamic) rope.original_max_positions = scaling.whole("original_max_position_embeddings", max_positions);
  if (rope.kind != RopeKind::llama3) return;
  rope.low_freq_factor = needed(scaling, "low_freq_factor", rope.kind, 1.0);
  rope.high_freq_factor = needed(scaling, "high_freq_factor", rope.kind, 4.0);
  if (rope.high_freq_factor <= rope.low_freq_factor)
    scaling.fault(fmt::format("high_freq_factor is {} and low_freq_factor is {}. The first must be the larger one.", rope.high_freq_factor,
                              rope.low_freq_factor));
  if (!scaling.has("original_max_position_embeddings"))
    scaling.fault("original_max_position_embeddings is missing. The scaling llama3 needs it.");
  rope.original_max_positions = scaling.whole("original_max_position_embeddings", max_positions);
}

}  // namespace

std::string_view name_of(RopeKind kind) {
  for (const auto& [name, known] : kinds)
    if (known == kind) return name;
  return "default";
}

RopeConfig parse_rope(ConfigReader& config, int64_t max_positions) {
  RopeConfig rope;
  rope.theta = config.positive_number("rope_theta", rope.theta);
  if (config.has("rope_scaling") && config.has("rope_parameters"))
    config.fault("rope_scaling and rope_parameters are both given. They say the same thing. Remove one.");
  const std::string key = config.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  const nlohmann::json& object = config.object(key);
  if (object.is_null()) return rope;
  ConfigReader scaling = config.inside(object, key);
  rope.theta = scaling.positive_number("rope_theta", rope.theta);
  parse_scaling(scaling, max_positions, rope);
  return rope;
}

}  // namespace scantling
