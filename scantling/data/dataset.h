// The rows a run trains or evaluates on: read, tokenized, cut or packed once, then kept as flat arrays in the user's cache folder and
// mapped from there, so the next start takes milliseconds. Const and safe to use from several threads after loading.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "scantling/data/dataset_documents.h"
#include "scantling/data/options.h"
#include "scantling/data/token_cache.h"

namespace scantling {

struct DatasetSource {
  std::string path;  // options.train or options.eval
  DataOptions options;
  int64_t vocab_size = 0;                // of the model; ids must lie below. 0: not checked
  uint64_t tokenizer_fingerprint = 0;    // fingerprint_of_tokenizer(folder)
  std::function<TextEncoder()> encoder;  // called only if there is text to tokenize; not needed for `tokens`
  std::string cache_folder;              // user_token_cache_folder(); empty: nothing is kept
};

// A row's tokens. labels[t] belongs to token t (not shifted); starts: where the row's documents begin, the first at 0.
struct RowView {
  std::span<const int32_t> ids;
  std::span<const int32_t> labels;
  std::span<const int32_t> starts;
};

class TokenDataset {
 public:
  // Throws DataError if the file cannot be used or holds no document.
  static TokenDataset load(const DatasetSource& source);

  int64_t rows() const { return static_cast<int64_t>(views_.label_tokens.size()); }
  RowView row(int64_t row) const;
  int64_t label_tokens(int64_t row) const { return views_.label_tokens[static_cast<size_t>(row)]; }  // labels that count, after the shift
  int64_t total_tokens() const { return static_cast<int64_t>(views_.ids.size()); }
  int64_t total_label_tokens() const { return total_label_tokens_; }
  int64_t rows_without_labels() const { return rows_without_labels_; }
  // What people should know, one line each: lines left out, rows cut, rows without labels, a cache that cannot be written.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  explicit TokenDataset(CachedRows cached);

  RowViews views_;
  std::vector<std::string> notices_;
  int64_t total_label_tokens_ = 0;
  int64_t rows_without_labels_ = 0;
};

// Of the files of a model's folder that a tokenizer may read: a change of one makes cached tokens invalid.
uint64_t fingerprint_of_tokenizer(const std::filesystem::path& folder);

// $XDG_CACHE_HOME/scantling/tokens or ~/.cache/scantling/tokens; empty if neither XDG_CACHE_HOME nor HOME is set.
std::string user_token_cache_folder();

}  // namespace scantling
