// From a data file to documents of ids and labels: one function for all formats.
// What counts as a label: in `text` and `jsonl` every token; in `instruct` and `chat` the answers with their end tokens (all tokens if
// mask_prompt is off); in `tokens` what the file says. A start token is put where the tokenizer's setting says so and the end token after
// every document of `text`, `jsonl` and Alpaca's form; a chat template writes both itself; `tokens` rows get nothing.
// An instruction is written with the model's chat template as a user's message (instruction, then input on a new line) and the answer; with
// Alpaca's form, and a notice, if the model has no template.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scantling/data/chat_template.h"
#include "scantling/data/options.h"
#include "scantling/data/packing.h"

namespace scantling {

// What documents need of a tokenizer. Special tokens written in a text are read as such.
struct TextEncoder {
  std::function<std::vector<int32_t>(std::string_view text, bool start)> encode;  // `start`: a start token where the tokenizer adds one
  std::optional<int32_t> end_id;
  std::function<std::vector<ChatSegment>(const std::vector<ChatMessage>&)> render;  // the model's chat template; empty if it has none
};

// Calls `add` with every document of the file, in order; lines left out are listed in `notices`. `encoder` is not used by `tokens`.
// Ids must lie in [0, vocab_size) unless that is 0. Throws DataError for what cannot be used.
void read_documents(const std::string& path, const DataOptions& options, int64_t vocab_size, const TextEncoder& encoder,
                    const std::function<void(const Document&)>& add, std::vector<std::string>& notices);

// Alpaca's prompt, for models without a chat template.
std::string alpaca_prompt(std::string_view instruction, std::string_view input);

}  // namespace scantling
