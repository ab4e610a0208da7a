// Documents become rows of at most max_length tokens. Unpacked, a document is a row and is cut at the end. Packed, documents stand one
// after the other and every row but the last is full; a document that does not fit goes on at the start of the next row, as a document of
// its own: nothing is predicted or seen across a join. Dense packing forgets the joins: a row is one document.
#pragma once

#include <cstdint>
#include <vector>

namespace scantling {

inline constexpr int32_t ignored_label = -100;

// Token t's label says what should be predicted there, so position t - 1 is the one that learns it. As many labels as ids.
struct Document {
  std::vector<int32_t> ids;
  std::vector<int32_t> labels;
};

// Rows in flat arrays. Row i has tokens [row_offsets[i], row_offsets[i + 1]) and its documents begin at the places
// starts[start_offsets[i] .. start_offsets[i + 1]) within the row, the first at 0.
struct RowArrays {
  std::vector<int64_t> row_offsets{0};
  std::vector<int64_t> start_offsets{0};
  std::vector<int32_t> starts;
  std::vector<int32_t> label_tokens;  // one per row: labels that count, which the first token of a document never does
  std::vector<int32_t> ids;
  std::vector<int32_t> labels;
};

enum class Packing : uint8_t { none, separate, dense };

class RowBuilder {
 public:
  RowBuilder(Packing packing, int64_t max_length) : packing_(packing), max_length_(max_length) {}

  void add(const Document& document);
  // The rows so far; the last one may be short. The builder is empty afterwards.
  RowArrays take();

  int64_t rows_cut() const { return rows_cut_; }      // unpacked documents longer than max_length
  int64_t tokens_cut() const { return tokens_cut_; }  // their tokens left out

 private:
  int64_t open_tokens() const;
  void append(const Document& document, int64_t begin, int64_t end);
  void close_row();

  Packing packing_;
  int64_t max_length_;
  int64_t rows_cut_ = 0;
  int64_t tokens_cut_ = 0;
  RowArrays arrays_;
};

}  // namespace scantling
