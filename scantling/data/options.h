// What the `data` section of a run file says.
#pragma once

#include <cstdint>
#include <string>

#include "scantling/core/error.h"

namespace scantling {

enum class DataFormat : uint8_t { text, jsonl, instruct, chat, tokens };

struct DataOptions {
  std::string train;  // file
  std::string eval;   // file; empty: no evaluation
  DataFormat format = DataFormat::text;
  std::string document_separator;  // text: a line that ends a document ("%" in fortune files); empty: the file is one document
  int64_t max_length = 512;        // tokens in a row
  bool packing = false;            // join documents into rows; formats with `text` default to true (set by the run file)
  bool packing_dense = false;      // packing: positions go on and attention crosses the joins
  bool shuffle = true;
  bool drop_last = false;       // leave out an epoch's incomplete last batch
  bool mask_prompt = true;      // instruct and chat: only answers are labels
  bool skip_bad_lines = false;  // JSONL: list and leave out lines that cannot be used
  void validate(Faults& faults) const;
};

}  // namespace scantling
