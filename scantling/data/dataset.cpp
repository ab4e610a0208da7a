// A cache file is named by what was asked for (path, options, tokenizer) and holds the fingerprint of the data file, so changed data
// replaces its old tokens instead of piling up beside them.
#include "scantling/data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "scantling/core/error.h"
#include "scantling/core/text.h"

namespace scantling {
namespace {

constexpr std::string_view rows_version = "1";  // counts changes in how documents and rows are made

std::string cache_path(const DatasetSource& source) {
  const auto& options = source.options;
  std::error_code fault;
  const auto path = std::filesystem::absolute(source.path, fault).string();
  const auto key = fmt::format("{}|{}|{}|{}|{}|{}{}{}{}|{}|{}", rows_version, path, source.tokenizer_fingerprint,
                               static_cast<int>(options.format), options.max_length, options.packing, options.packing_dense,
                               options.mask_prompt, options.skip_bad_lines, source.vocab_size, options.document_separator);
  return fmt::format("{}/{:016x}.bin", source.cache_folder, mix_fingerprint(0, key));
}

Packing packing_of(const DataOptions& options) {
  if (!options.packing) return Packing::none;
  return options.packing_dense ? Packing::dense : Packing::separate;
}

CachedRows make_rows(const DatasetSource& source) {
  const auto& options = source.options;
  CachedRows made;
  RowBuilder builder(packing_of(options), options.max_length);
  const TextEncoder encoder = options.format == DataFormat::tokens ? TextEncoder{} : source.encoder();
  read_documents(
      source.path, options, source.vocab_size, encoder, [&](const Document& document) { builder.add(document); }, made.notices);
  made.rows = views_of(builder.take());
  const auto rows = static_cast<int64_t>(made.rows.label_tokens.size());
  if (rows == 0) {
    throw DataError(fmt::format(
        "{}: holds no document that can be used. Training and evaluation need at least one row. Check the file and data.format.",
        source.path));
  }
  if (builder.rows_cut() > 0) {
    made.notices.push_back(fmt::format("{}: {} of {} rows were longer than data.max_length {} and were cut; {} tokens are left out",
                                       source.path, with_commas(builder.rows_cut()), with_commas(rows), options.max_length,
                                       with_commas(builder.tokens_cut())));
  }
  const auto without = std::count(made.rows.label_tokens.begin(), made.rows.label_tokens.end(), 0);
  if (without > 0) {
    made.notices.push_back(fmt::format("{}: {} of {} rows have no label token within data.max_length {}; nothing is learned from them",
                                       source.path, with_commas(without), with_commas(rows), options.max_length));
  }
  return made;
}

bool is_tokenizer_file(const std::filesystem::directory_entry& entry) {
  constexpr std::array<std::string_view, 5> endings = {".json", ".jinja", ".model", ".txt", ".tiktoken"};
  std::error_code fault;
  return entry.is_regular_file(fault) && std::find(endings.begin(), endings.end(), entry.path().extension().string()) != endings.end();
}

}  // namespace

TokenDataset::TokenDataset(CachedRows cached) : views_(std::move(cached.rows)), notices_(std::move(cached.notices)) {
  for (const int32_t count : views_.label_tokens) {
    total_label_tokens_ += count;
    if (count == 0) ++rows_without_labels_;
  }
}

TokenDataset TokenDataset::load(const DatasetSource& source) {
  if (source.cache_folder.empty()) return TokenDataset(make_rows(source));
  const uint64_t fingerprint = fingerprint_of_file(source.path);
  const std::string path = cache_path(source);
  if (auto cached = load_token_cache(path, fingerprint)) return TokenDataset(std::move(*cached));
  auto made = make_rows(source);
  if (const auto reason = store_token_cache(path, fingerprint, made)) {
    made.notices.push_back(
        fmt::format("tokens cannot be kept in {} ({}); they are made again at every start", source.cache_folder, *reason));
  }
  return TokenDataset(std::move(made));
}

RowView TokenDataset::row(int64_t row) const {
  check(row >= 0 && row < rows(), "a row of the data set");
  const auto slice = [row](std::span<const int64_t> offsets, std::span<const int32_t> values) {
    const auto begin = static_cast<size_t>(offsets[static_cast<size_t>(row)]);
    return values.subspan(begin, static_cast<size_t>(offsets[static_cast<size_t>(row) + 1]) - begin);
  };
  return {slice(views_.row_offsets, views_.ids), slice(views_.row_offsets, views_.labels), slice(views_.start_offsets, views_.starts)};
}

uint64_t fingerprint_of_tokenizer(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(folder, fault)) {
    if (is_tokenizer_file(entry)) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  uint64_t fingerprint = 0;
  for (const auto& file : files) {
    const auto name = std::filesystem::path(file).filename().string();
    fingerprint = mix_fingerprint(fingerprint, fmt::format("{}:{}", name, fingerprint_of_file(file)));
  }
  return fingerprint;
}

std::string user_token_cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const auto cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/scantling/tokens";
  if (const auto home = variable("HOME"); !home.empty()) return home + "/.cache/scantling/tokens";
  return {};
}

}  // namespace scantling
