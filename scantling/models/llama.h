// The Llama family's blocks.
#pragma once

#include "scantling/models/description/llama.h"
#include "scantling/models/model.h"

namespace scantling {

Model make_llama(const LlamaConfig& config);

}  // namespace scantling
