// Documents of a row are handled one by one: all of their positions share a start, and their last one has nothing to predict. Padding
// goes on with the row's last document, behind everything that counts: causal attention never looks at it.
#include "scantling/data/batch.h"

#include <algorithm>

#include "scantling/core/error.h"

namespace scantling {
namespace {

int64_t length_of(const TokenDataset& dataset, std::span<const int64_t> rows, int64_t fixed_length) {
  int64_t longest = 1;
  for (const int64_t row : rows) longest = std::max(longest, static_cast<int64_t>(dataset.row(row).ids.size()));
  check(fixed_length == 0 || longest <= fixed_length, "rows no longer than the fixed length");
  return fixed_length == 0 ? longest : fixed_length;
}

// Writes a row at `first` of the batch arrays, which hold padding ids and ignored labels so far.
void fill_row(const RowView& row, size_t first, MicroBatch& batch) {
  std::copy(row.ids.begin(), row.ids.end(), batch.ids.begin() + static_cast<int64_t>(first));
  for (size_t document = 0; document < row.starts.size(); ++document) {
    const auto begin = static_cast<size_t>(row.starts[document]);
    const auto end = document + 1 < row.starts.size() ? static_cast<size_t>(row.starts[document + 1]) : static_cast<size_t>(batch.length);
    for (size_t t = begin; t < end; ++t) {
      batch.starts[first + t] = static_cast<int64_t>(begin);
      batch.positions[first + t] = static_cast<int64_t>(t - begin);
      if (t + 1 < std::min(end, row.ids.size())) batch.labels[first + t] = row.labels[t + 1];
    }
  }
}

}  // namespace

MicroBatch collate(const TokenDataset& dataset, std::span<const int64_t> rows, int64_t pad_id, int64_t fixed_length) {
  MicroBatch batch;
  if (rows.empty()) return batch;
  batch.rows = static_cast<int64_t>(rows.size());
  batch.length = length_of(dataset, rows, fixed_length);
  const auto places = static_cast<size_t>(batch.rows * batch.length);
  batch.ids.assign(places, pad_id);
  batch.labels.assign(places, ignored_label);
  batch.positions.assign(places, 0);
  batch.starts.assign(places, 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    fill_row(dataset.row(rows[i]), i * static_cast<size_t>(batch.length), batch);
    batch.label_tokens += dataset.label_tokens(rows[i]);
  }
  return batch;
}

}  // namespace scantling
