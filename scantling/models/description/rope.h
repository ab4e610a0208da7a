// How a model turns positions into rotary angles, as its config.json says it: the base and one of the known scalings of it.
// A scaling that is not known is refused by name: a dropped one would pass short checks and go wrong on long rows.
#pragma once

#include <cstdint>
#include <string_view>

#include "scantling/models/description/config_reader.h"

namespace scantling {

enum class RopeKind : uint8_t { standard, linear, dynamic, llama3 };  // config.json: default | linear | dynamic | llama3

struct RopeConfig {
  RopeKind kind = RopeKind::standard;
  double theta = 10'000.0;
  double factor = 1.0;                 // linear, dynamic, llama3
  double low_freq_factor = 1.0;        // llama3
  double high_freq_factor = 4.0;       // llama3
  int64_t original_max_positions = 0;  // llama3, dynamic: positions the model was first trained for
};

std::string_view name_of(RopeKind kind);

// Reads `rope_theta` and `rope_scaling` (key `rope_type` or `type`), or the newer `rope_parameters` that holds both.
// `max_positions` is the default of original_max_positions for `dynamic`.
RopeConfig parse_rope(ConfigReader& config, int64_t max_positions);

}  // namespace scantling
