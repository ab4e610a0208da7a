// Compares the tensors a model needs with the tensors a folder has. A name that does not fit is an error, never a silently random layer:
// all missing, unexpected and misshapen tensors are reported at once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scantling/checkpoint/hf_folder.h"
#include "scantling/core/error.h"

namespace scantling {

struct ExpectedTensor {
  std::string name;
  std::vector<int64_t> shape;
};

struct WeightMatch {
  Faults faults;
  std::vector<std::string> notices;              // what is in the folder and not used, one line each
  std::map<std::string, std::string> stored_as;  // expected name -> name in the folder, where they differ (tied aliases)
};

// `tied_aliases`: other names of an expected tensor (lm_head.weight -> model.embed_tokens.weight). An alias stands in for a tensor that is
// missing under its own name, and is ignored with a notice beside it. Buffers that models compute themselves are ignored with a notice.
WeightMatch match(const WeightFolder& folder, const std::vector<ExpectedTensor>& expected,
                  const std::map<std::string, std::string>& tied_aliases);

}  // namespace scantling
