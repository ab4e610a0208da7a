// The open row is what lies behind the last row offset. Closing it counts its labels once, so nobody counts them again.
#include "scantling/data/packing.h"

#include <algorithm>
#include <utility>

#include "scantling/core/error.h"

namespace scantling {

int64_t RowBuilder::open_tokens() const { return static_cast<int64_t>(arrays_.ids.size()) - arrays_.row_offsets.back(); }

void RowBuilder::append(const Document& document, int64_t begin, int64_t end) {
  const int64_t place = open_tokens();
  if (place == 0 || packing_ != Packing::dense) arrays_.starts.push_back(static_cast<int32_t>(place));
  arrays_.ids.insert(arrays_.ids.end(), document.ids.begin() + begin, document.ids.begin() + end);
  arrays_.labels.insert(arrays_.labels.end(), document.labels.begin() + begin, document.labels.begin() + end);
}

void RowBuilder::close_row() {
  const auto labels = arrays_.labels.begin() + arrays_.row_offsets.back();
  const auto counted = [](int32_t label) { return label != ignored_label; };
  auto count = std::count_if(labels, arrays_.labels.end(), counted);
  for (auto start = static_cast<size_t>(arrays_.start_offsets.back()); start < arrays_.starts.size(); ++start) {
    if (open_tokens() > 0 && counted(labels[arrays_.starts[start]])) --count;
  }
  arrays_.label_tokens.push_back(static_cast<int32_t>(count));
  arrays_.row_offsets.push_back(static_cast<int64_t>(arrays_.ids.size()));
  arrays_.start_offsets.push_back(static_cast<int64_t>(arrays_.starts.size()));
}

void RowBuilder::add(const Document& document) {
  check(document.ids.size() == document.labels.size(), "as many labels as ids");
  const auto tokens = static_cast<int64_t>(document.ids.size());
  if (packing_ == Packing::none) {
    const int64_t kept = std::min(tokens, max_length_);
    if (kept < tokens) ++rows_cut_;
    tokens_cut_ += tokens - kept;
    append(document, 0, kept);
    close_row();
    return;
  }
  for (int64_t done = 0; done < tokens;) {
    const int64_t end = std::min(tokens, done + max_length_ - open_tokens());
    append(document, done, end);
    if (open_tokens() == max_length_) close_row();
    done = end;
  }
}

RowArrays RowBuilder::take() {
  if (open_tokens() > 0) close_row();
  return std::exchange(arrays_, {});
}

}  // namespace scantling
