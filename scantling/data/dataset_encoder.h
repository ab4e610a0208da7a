// The data set's view of a model folder: its tokenizer, opened only when there is text to tokenize, and its chat template where the format
// writes conversations.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "scantling/data/dataset.h"
#include "scantling/data/tokenizer.h"

namespace scantling {

// Chat text gets no start token beyond what the template writes. Throws ConfigError for a chat template that is not known, if `format`
// needs it.
TextEncoder encoder_of(const std::shared_ptr<const Tokenizer>& tokenizer, DataFormat format);

// The data file `path` read with the tokenizer of `tokenizer_folder` (not looked at for `tokens`); no cache folder is set.
DatasetSource dataset_source(const std::string& path, const DataOptions& options, const std::filesystem::path& tokenizer_folder,
                             int64_t vocab_size);

}  // namespace scantling
