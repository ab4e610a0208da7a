// A plan as text for people and as JSON for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scantling/plan/remedies.h"
#include "scantling/train/job.h"

namespace scantling {

std::string plan_text(const Job& job, const Price& price, const std::vector<Remedy>& remedies);
nlohmann::ordered_json plan_json(const Job& job, const Price& price, const std::vector<Remedy>& remedies);

int64_t trainable_parameters(const Job& job);

}  // namespace scantling
