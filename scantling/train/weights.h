// Weights in and out of a run: each rank reads and writes only its own ranges.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "scantling/checkpoint/hf_folder.h"
#include "scantling/checkpoint/staged_output.h"
#include "scantling/checkpoint/weight_folder_writer.h"
#include "scantling/runtime/parameter_store.h"
#include "scantling/train/job.h"

namespace scantling {

// Where initial weights come from: the model's folder, or drawn from the seed and each element's global index when there is only a
// configuration. Opening checks every name and shape; reading happens later, by range, from any thread.
class InitialWeights {
 public:
  InitialWeights(const ModelSource& source, uint64_t seed);
  ParameterStore::Reader reader() const;

 private:
  const ModelDescription& model_;
  uint64_t seed_;
  std::optional<WeightFolder> folder_;
  std::map<std::string, std::string> stored_as_;
};

// Adds a fault for what would stop the model from being written into `output_dir` after the run: a file of the tokenizer that cannot be
// read, a disk without room for the weights.
void expect_export(const ModelSource& source, const std::string& output_dir, Faults& faults);

// The model of a run as a Hugging Face folder: weights in global shapes, the configuration with unknown keys kept, the tokenizer's files.
// One object is shared by the ranks of a process; begin and commit are called by one of them, between barriers.
class ModelExport {
 public:
  ModelExport(const Job& job, std::filesystem::path folder, bool overwrite);
  void write_part(const ParameterStore& store, int parameter);
  void commit();

 private:
  const Job& job_;
  StagedFolder staged_;
  std::optional<WeightFolderWriter> writer_;
};

}  // namespace scantling
