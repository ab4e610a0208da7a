#include "scantling/train/corpus.h"

#include "scantling/core/log.h"
#include "scantling/data/dataset_encoder.h"

namespace scantling {

TokenDataset load_corpus(const Job& job, const std::string& path) {
  const auto& source = job.source;
  const std::filesystem::path folder =
      source.folder.empty() ? std::filesystem::path(source.config_file).parent_path() : std::filesystem::path(source.folder);
  auto wanted = dataset_source(path, job.options.data, folder, job.model.description.vocabulary_size);
  wanted.cache_folder = user_token_cache_folder();
  auto dataset = TokenDataset::load(wanted);
  for (const auto& notice : dataset.notices()) log_info("{}", notice);
  return dataset;
}

MicroBatch micro_batch_of(const TokenDataset& dataset, const std::vector<int64_t>& rows) {
  if (!rows.empty()) return collate(dataset, rows, 0);
  MicroBatch nothing;
  nothing.rows = nothing.length = 1;
  nothing.ids = nothing.starts = nothing.positions = {0};
  nothing.labels = {-100};
  return nothing;
}

BatchView view_of(const MicroBatch& batch) {
  return {batch.rows, batch.length, batch.ids.data(), batch.labels.data(), batch.starts.data(), batch.positions.data(), batch.label_tokens};
}

}  // namespace scantling
