#include "scantling/train/weights.h"

#include <algorithm>
#include <array>

#include "scantling/checkpoint/weight_match.h"
#include "scantling/core/log.h"
#include "scantling/core/random.h"

namespace scantling {

namespace fs = std::filesystem;

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

ModelExport::ModelExport(const Job& job, fs::path folder, bool overwrite) : job_(job), staged_(std::move(folder), overwrite) {
  auto config = job.source.json();
  config["torch_dtype"] = "float32";
  write_file(staged_.path() / "config.json", config.dump(2) + "\n");
  constexpr std::array companions{"tokenizer.json", "tokenizer.model",   "tokenizer_config.json", "special_tokens_map.json", "vocab.json",
                                  "merges.txt",     "added_tokens.json", "chat_template.jinja",   "generation_config.json"};
  if (!job.source.folder.empty())
    for (const char* name : companions) {
      const auto from = path_inside(job.source.folder, name, name);
      if (fs::exists(from)) fs::copy_file(from, staged_.path() / name);
    }
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
