// Rows of tokens as views, and the file that keeps them, so that a second run starts without tokenizing.
// A cache file is trusted only if its length, its checksum and the fingerprint of its inputs agree; whatever else is found there is made
// again. It is written beside and renamed, so readers see all of it or none, also when several processes write at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scantling/data/packing.h"

namespace scantling {

// RowArrays as views. `storage` owns what they point into: vectors or a mapped file.
struct RowViews {
  std::span<const int64_t> row_offsets;
  std::span<const int64_t> start_offsets;
  std::span<const int32_t> starts;
  std::span<const int32_t> label_tokens;
  std::span<const int32_t> ids;
  std::span<const int32_t> labels;
  std::shared_ptr<const void> storage;
};

struct CachedRows {
  RowViews rows;
  std::vector<std::string> notices;  // what there was to say when the rows were made
};

RowViews views_of(RowArrays arrays);

// What `path` holds, mapped; none if it is missing, damaged, or made from other inputs than `fingerprint` says.
std::optional<CachedRows> load_token_cache(const std::string& path, uint64_t fingerprint);

// Writes the file and its folder. Returns why not if that cannot be done; this is no error, only slower next time.
std::optional<std::string> store_token_cache(const std::string& path, uint64_t fingerprint, const CachedRows& cached);

// Adds to a fingerprint; the order counts.
uint64_t mix_fingerprint(uint64_t fingerprint, std::string_view bytes);

// Of a file's content: all of it up to 64 MiB, else size, modification time and the first and last MiB. A file that is missing has one too.
uint64_t fingerprint_of_file(const std::string& path);

}  // namespace scantling
