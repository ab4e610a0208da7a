// A model as the layout and the planner see it: blocks in order and the parameter table. No tensors.
// The parameter table is the one source that loading, sharding, checkpointing, freezing and planning read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scantling/core/dtype.h"

namespace scantling {

// One logical parameter. A tied weight is one entry used by several blocks.
struct ParameterInfo {
  std::string name;            // Hugging Face name, "model.layers.3.mlp.up_proj.weight"
  std::vector<int64_t> shape;  // global
  std::vector<int> blocks;     // the blocks that use it, ascending; the first one is its home
  // Classes and paths of the modules around it, outermost first, as in the model's own source:
  // {"LlamaForCausalLM", ""}, {"LlamaDecoderLayer", "model.layers.3"}, {"LlamaMLP", "model.layers.3.mlp"},
  // {"Linear", "model.layers.3.mlp.up_proj"}
  struct Scope {
    std::string class_name;
    std::string path;
  };
  std::vector<Scope> scopes;
  enum class Initial : uint8_t { normal, zeros, ones } initial = Initial::normal;  // when drawn rather than loaded
  std::vector<std::string> aliases;  // further names a file may hold the same weight under ("lm_head.weight" when tied)

  int64_t count() const;  // elements
  bool is_matrix() const { return shape.size() >= 2; }
};

struct BlockInfo {
  std::string name;        // "model.embed_tokens", "model.layers.3", "lm_head"
  std::string class_name;  // the model's real class, "LlamaDecoderLayer"
};

struct ModelDescription {
  std::string family;  // "llama"
  std::vector<BlockInfo> blocks;
  std::vector<ParameterInfo> parameters;  // in order of their home block
  double initializer_range = 0.02;
  int64_t max_positions = 0;  // longest row the model takes
  int64_t vocabulary_size = 0;

  int64_t parameter_count() const;               // tied weights once
  int index_of(const std::string& name) const;   // -1 if absent
  std::vector<std::string> class_names() const;  // every module class, each once, in order of appearance
};

}  // namespace scantling
