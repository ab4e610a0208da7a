// The tensors of a Llama model in a GGUF file under their Hugging Face names, and how to write them.
// llama.cpp stores the rows of q and k in the order its interleaved rotary embedding wants: within a head of size d, file row 2i + j
// (j = 0, 1) is row j * d/2 + i in Hugging Face's half-split order. Everything else is stored as it is.
#pragma once

#include <string>
#include <vector>

#include "scantling/checkpoint/gguf_llama_config.h"
#include "scantling/checkpoint/weight_folder_writer.h"

namespace scantling {

struct ImportedTensor {
  std::string name;  // Hugging Face's
  const GgufTensor* source = nullptr;
  bool interleaved = false;  // rows of heads must be put into half-split order
};

// All tensors in Hugging Face's order. Throws CheckpointError listing the missing and unexpected, or naming the misshapen one.
std::vector<ImportedTensor> llama_tensors(const GgufFile& file, const LlamaShape& shape);

// Dequantises one tensor and writes it, some rows at a time.
void write_imported(const GgufFile& file, const ImportedTensor& tensor, int64_t head_dim, WeightFolderWriter& writer);

}  // namespace scantling
