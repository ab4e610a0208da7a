// Which parameters are gathered together.
#pragma once

#include <string>
#include <vector>

#include "scantling/core/error.h"
#include "scantling/layout/layout.h"

namespace scantling {

// Default: one unit per block of the model. By class: one unit per outermost module of a named class; by size: the smallest modules with at
// least `min_parameters` elements. What no wrapped module holds forms the unit "rest". A tied weight belongs to the unit of its first
// use, so a wrap policy cannot separate a tied pair. Class names that the model does not have are faults that list those it has.
std::vector<Unit> wrap_units(const ModelDescription& model, const WrapOptions& options, Faults& faults);

}  // namespace scantling
