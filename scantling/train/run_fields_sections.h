// The fields of each section, joined by run_fields().
#pragma once

#include <vector>

#include "scantling/train/run_fields.h"

namespace scantling {

std::vector<Field> data_fields();  // `model` too
std::vector<Field> device_fields();
std::vector<Field> layout_fields();
std::vector<Field> train_fields();

}  // namespace scantling
