#include "scantling/train/weights.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "scantling/checkpoint/weight_match.h"
#include "scantling/core/bytes.h"
#include "scantling/core/log.h"
#include "scantling/core/random.h"

namespace scantling {

namespace fs = std::filesystem;

namespace {

// The files beside the weights that go with the model.
std::vector<fs::path> companions_of(const ModelSource& source) {
  constexpr std::array names{"tokenizer.json", "tokenizer.model",   "tokenizer_config.json", "special_tokens_map.json", "vocab.json",
                             "merges.txt",     "added_tokens.json", "chat_template.jinja",   "generation_config.json"};
  std::vector<fs::path> files;
  if (source.folder.empty()) return files;
  for (const char* name : names)
    if (const auto file = path_inside(source.folder, name, name); fs::exists(file)) files.push_back(file);
  return files;
}

// Names and shapes were compared before; what is left is whether the values are numbers a weight can be.
void expect_floating(const WeightFolder& folder, const std::string& name, Faults& faults) {
  if (is_floating(folder.dtype(name))) return;
  faults.add(fmt::format("{}: tensor \"{}\" is {}. Weights are floating numbers. Use the model's full-precision folder.",
                         folder.folder().string(), name, name_of(folder.dtype(name))));
}

bool equal_values(const WeightFolder& folder, const ParameterInfo& parameter, const std::string& alias) {
  constexpr int64_t chunk = 1 << 20;
  if (folder.shape(alias) != parameter.shape) return false;
  std::vector<float> own(chunk), other(chunk);
  for (int64_t begin = 0; begin < parameter.count(); begin += chunk) {
    const int64_t count = std::min(chunk, parameter.count() - begin);
    folder.read(parameter.name, begin, count, own.data(), DType::float32);
    folder.read(alias, begin, count, other.data(), DType::float32);
    if (std::memcmp(own.data(), other.data(), static_cast<size_t>(count) * sizeof(float)) != 0) return false;
  }
  return true;
}

// A tied weight that a file holds under both its names must be the same twice: nobody can tell which one was meant.
void expect_equal_twins(const WeightFolder& folder, const ParameterInfo& parameter, Faults& faults) {
  for (const auto& alias : parameter.aliases) {
    if (!folder.contains(parameter.name) || !folder.contains(alias) || equal_values(folder, parameter, alias)) continue;
    faults.add(fmt::format(
        "{}: \"{}\" and \"{}\" are tied in config.json and differ in the file. Set tie_word_embeddings to false to keep both, or "
        "leave one out of the file.",
        folder.folder().string(), parameter.name, alias));
  }
}

}  // namespace

InitialWeights::InitialWeights(const ModelSource& source, uint64_t seed) : model_(source.description), seed_(seed) {
  if (source.folder.empty()) return;
  folder_.emplace(source.folder);
  std::vector<ExpectedTensor> expected;
  std::map<std::string, std::string> aliases;
  for (const auto& parameter : model_.parameters) {
    expected.push_back({parameter.name, parameter.shape});
    for (const auto& alias : parameter.aliases) aliases[alias] = parameter.name;
  }
  auto matched = match(*folder_, expected, aliases);
  if (matched.faults.empty())
    for (const auto& tensor : expected) {
      const auto other = matched.stored_as.find(tensor.name);
      expect_floating(*folder_, other == matched.stored_as.end() ? tensor.name : other->second, matched.faults);
    }
  if (matched.faults.empty())
    for (const auto& parameter : model_.parameters) expect_equal_twins(*folder_, parameter, matched.faults);
  if (!matched.faults.empty()) throw CheckpointError(fmt::format("{}", fmt::join(matched.faults.list(), "\n")));
  for (const auto& notice : matched.notices) log_info("{}", notice);
  stored_as_ = std::move(matched.stored_as);
}

ParameterStore::Reader InitialWeights::reader() const {
  return [this](int parameter, int64_t begin, int64_t count, float* to) {
    const auto& info = model_.parameters[static_cast<size_t>(parameter)];
    if (folder_) {
      const auto other = stored_as_.find(info.name);
      folder_->read(other == stored_as_.end() ? info.name : other->second, begin, count, to, DType::float32);
    } else if (info.initial == ParameterInfo::Initial::normal) {
      fill_normal(seed_, stream_of(info.name), static_cast<uint64_t>(begin), {to, static_cast<size_t>(count)},
                  static_cast<float>(model_.initializer_range));
    } else {
      std::fill_n(to, count, info.initial == ParameterInfo::Initial::ones ? 1.0f : 0.0f);
    }
  };
}

void expect_export(const ModelSource& source, const std::string& output_dir, Faults& faults) {
  for (const auto& file : companions_of(source))
    if (::access(file.c_str(), R_OK) != 0)
      faults.add(fmt::format("{}: cannot be read. It is written beside the trained model. Check its permissions.", file.string()));
  auto existing = fs::absolute(output_dir);
  std::error_code failed;
  while (!fs::exists(existing, failed) && !failed) existing = existing.parent_path();
  const auto room = fs::space(existing, failed);
  const int64_t needed_bytes = source.description.parameter_count() * size_of(DType::float32);
  if (failed || room.capacity == 0 || room.available >= static_cast<uint64_t>(needed_bytes))
    return;  // OutputFolder says what is wrong with the folder
  faults.add(fmt::format("train.output_dir ({}) has room for {}. The trained model takes {}. Free space, or name a folder on another disk.",
                         output_dir, format_bytes(static_cast<int64_t>(room.available)), format_bytes(needed_bytes)));
}

ModelExport::ModelExport(const Job& job, fs::path folder, bool overwrite) : job_(job), staged_(std::move(folder), overwrite) {
  auto config = job.source.json();
  config["torch_dtype"] = "float32";
  write_file(staged_.path() / "config.json", config.dump(2) + "\n");
  for (const auto& file : companions_of(job.source)) fs::copy_file(file, staged_.path() / file.filename());
  std::vector<TensorSpec> tensors;
  for (const auto& parameter : job.model.description.parameters) tensors.push_back({parameter.name, DType::float32, parameter.shape});
  writer_.emplace(staged_.path(), tensors);
}

void ModelExport::write_part(const ParameterStore& store, int parameter) {
  const auto& part = store.part(parameter);
  const auto& name = job_.model.description.parameters[static_cast<size_t>(parameter)].name;
  if (part.count > 0) writer_->write(name, part.begin, part.master, part.count, DType::float32);
}

void ModelExport::commit() {
  writer_->commit();
  staged_.commit();
}

}  // namespace scantling
