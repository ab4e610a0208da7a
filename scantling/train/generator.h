// Text from a model, token by token, on one device in float32.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scantling/data/tokenizer.h"
#include "scantling/models/description/load.h"
#include "scantling/models/model.h"

namespace scantling {

struct GenerateOptions {
  int64_t max_new_tokens = 64;
  double temperature = 0;  // 0: greedy, the most likely token each time
  int64_t top_k = 0;       // keep the k most likely tokens; 0: all
  double top_p = 1;        // keep the most likely tokens that together reach this probability
  uint64_t seed = 0;
  bool chat = false;  // the prompt is a user's message, written with the model's chat template
  void validate(Faults& faults) const;
};

struct Generated {
  std::vector<int32_t> prompt_ids;
  std::vector<int32_t> ids;  // the new ones; an end token that stopped it is not among them
  std::string text;          // of the new ones
};

class Generator {
 public:
  // Reads all weights. Throws ConfigError or CheckpointError; the folder must hold weights and a tokenizer.
  explicit Generator(const std::string& model_folder);
  ~Generator();

  Generated generate(const std::string& prompt, const GenerateOptions& options) const;
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  // Logits after the last of `ids`, one per vocabulary entry.
  std::vector<float> next_logits(const std::vector<int32_t>& ids) const;

 private:
  struct Weights;
  ModelSource source_;
  Model model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<Weights> weights_;
};

// Picks a token from logits. `draw` in [0, 1) decides where temperature is above 0; ties go to the lower id.
int32_t choose_token(const std::vector<float>& logits, const GenerateOptions& options, double draw);

}  // namespace scantling
