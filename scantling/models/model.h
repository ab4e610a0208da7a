// A model: what the layout sees of it, and the blocks that compute it.
#pragma once

#include <memory>
#include <vector>

#include "scantling/models/description/description.h"
#include "scantling/nn/block.h"

namespace scantling {

struct Model {
  ModelDescription description;
  std::vector<std::unique_ptr<Block>> blocks;  // as in the description
};

}  // namespace scantling
