// What a rank computes on at once: rows of the data set, padded on the right to one length. Padding is known by each row's length, never by
// the value of a token, so a padding id that is also the end token masks nothing. The shift is done here, once: position t holds the label
// that follows it, and a model compares output t with label t.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scantling/data/dataset.h"

namespace scantling {

// Arrays are [rows, length], row-major. An empty micro-batch has rows 0 and length 0.
struct MicroBatch {
  int64_t rows = 0;
  int64_t length = 0;
  std::vector<int64_t> ids;
  std::vector<int64_t> labels;     // of the next token; ignored_label at the end of a document, where masked, and in padding
  std::vector<int64_t> starts;     // first position that position t may attend to: where its document begins. Keys are [starts[t], t]
  std::vector<int64_t> positions;  // t - starts[t]: within the document
  int64_t label_tokens = 0;        // labels that are not ignored
};

// Rows `rows` of the data set, in that order. Padding has the id `pad_id` (any id of the vocabulary will do), ignored labels, and
// belongs to the row's last document, behind its tokens. The length is that of the longest row, at least 1, or `fixed_length` if that is
// not 0; no row may be longer.
MicroBatch collate(const TokenDataset& dataset, std::span<const int64_t> rows, int64_t pad_id, int64_t fixed_length = 0);

}  // namespace scantling
