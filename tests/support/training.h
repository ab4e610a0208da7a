// Short training runs for tests: a folder with a model configuration and rows of token ids, and what a run over them came to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scantling/checkpoint/hf_folder.h"
#include "scantling/checkpoint/safetensors_writer.h"
#include "scantling/core/log.h"
#include "scantling/core/random.h"
#include "scantling/train/run_file.h"
#include "scantling/train/trainer.h"
#include "tests/data/data_files.h"
#include "tests/support/tiny_llama.h"

namespace scantling::test {

using Tokens = std::vector<int64_t>;
using Flags = std::vector<std::string>;
using Weights = std::map<std::string, std::vector<float>>;

// Where the user's own files are, whatever a test sets later.
inline const std::filesystem::path user_cache = [] {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  return cache && *cache ? std::filesystem::path(cache) : std::filesystem::path(home ? home : "") / ".cache";
}();

// Rows of the given lengths, no two alike.
inline std::vector<Tokens> documents_of(const std::vector<int64_t>& lengths, int64_t vocabulary = 256) {
  std::vector<Tokens> documents;
  for (size_t d = 0; d < lengths.size(); d++) {
    documents.emplace_back();
    for (int64_t t = 0; t < lengths[d]; t++) documents.back().push_back((static_cast<int64_t>(d) * 37 + t * t * 11 + 5) % vocabulary);
  }
  return documents;
}

inline std::string token_rows(const std::vector<Tokens>& documents, const std::vector<Tokens>& labels = {}) {
  std::string text;
  for (size_t d = 0; d < documents.size(); d++) {
    nlohmann::json row{{"input_ids", documents[d]}};
    if (!labels.empty()) row["labels"] = labels[d];
    text += row.dump() + "\n";
  }
  return text;
}

inline Weights weights_of(const std::string& model_folder) {
  Weights weights;
  const WeightFolder folder(model_folder);
  for (const auto& name : folder.names()) {
    int64_t count = 1;
    for (const int64_t size : folder.shape(name)) count *= size;
    auto& values = weights[name];
    values.resize(static_cast<size_t>(count));
    folder.read(name, 0, count, values.data(), DType::float32);
  }
  return weights;
}

// Writes `config` and its weights (drawn from seed 0, then changed by `change`) as a model folder.
inline std::string write_model(const std::string& folder, const nlohmann::json& config, const std::function<void(Weights&)>& change = {}) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/config.json") << config;
  const auto description = describe_llama(parse_llama_config(config, "config.json"));
  Weights weights;
  for (const auto& info : description.parameters) {
    auto& values = weights[info.name];
    values.assign(static_cast<size_t>(info.count()), 1.0f);
    if (info.is_matrix()) fill_normal(0, stream_of(info.name), 0, values, static_cast<float>(description.initializer_range));
  }
  if (change) change(weights);
  std::vector<TensorSpec> tensors;
  for (const auto& [name, values] : weights) {
    std::vector<int64_t> shape{static_cast<int64_t>(values.size())};
    for (const auto& info : description.parameters)
      if (info.name == name || std::find(info.aliases.begin(), info.aliases.end(), name) != info.aliases.end()) shape = info.shape;
    tensors.push_back({name, DType::float32, shape});
  }
  SafetensorsWriter writer(folder + "/model.safetensors", tensors);
  for (const auto& [name, values] : weights) writer.write(name, 0, values.data(), static_cast<int64_t>(values.size()), DType::float32);
  writer.commit();
  return folder;
}

struct Trained {
  std::vector<double> losses, norms, rates;
  RunSummary summary;
  Price price;
  Weights weights;
  std::string folder;  // of the model
};

class Bench {
 public:
  explicit Bench(const nlohmann::json& config = tiny_llama(),
                 const std::vector<Tokens>& documents = documents_of({9, 16, 5, 12, 16, 3, 16, 7})) {
    set_log_quiet(true);
    setenv("XDG_CACHE_HOME", folder_.path("cache").c_str(), 1);
    model_ = folder_.write("model.json", config.dump());
    rows_ = folder_.write("rows.jsonl", token_rows(documents));
  }

  std::string write(const std::string& name, const std::string& bytes) const { return folder_.write(name, bytes); }
  std::string path(const std::string& name) const { return folder_.path(name); }
  const std::string& model() const { return model_; }
  const std::string& rows() const { return rows_; }

  // Three strict steps over the rows in file order, unless flags say otherwise ("--train.max_steps=1").
  RunOptions options(const Flags& flags, RunUse use = RunUse::train) const {
    const std::string text = "model: " + model_ + "\ndata: {train: " + rows_ +
                             ", format: tokens, max_length: 16, shuffle: false}\ntrain: {max_steps: 3, learning_rate: 1e-2, "
                             "strict: true, lr_scheduler_type: constant, output_dir: " +
                             folder_.path("out") + "}\n";
    return parse_run(text, "test.yaml", flags, use);
  }

  Trained train(const Flags& flags) const {
    const auto job = make_job(options(flags));
    auto result = scantling::train(job, true);
    Trained trained{{}, {}, {}, result.summary, result.price, weights_of(folder_.path("out/model")), folder_.path("out/model")};
    std::ifstream metrics(folder_.path("out/metrics.jsonl"));
    for (std::string line; std::getline(metrics, line);) {
      const auto row = nlohmann::json::parse(line);
      if (!row.contains("loss")) continue;
      const auto number = [&](const char* key) { return row[key].is_number() ? row[key].get<double>() : std::nan(""); };
      trained.losses.push_back(number("loss"));
      trained.norms.push_back(number("grad_norm"));
      trained.rates.push_back(number("learning_rate"));
    }
    return trained;
  }

  Evaluation evaluate(const Flags& flags) const {
    return scantling::evaluate(make_job(options(flags, RunUse::evaluate), RunUse::evaluate));
  }

 private:
  TestFolder folder_;
  std::string model_, rows_;
};

// The name of the first weight of which an element differs by more than `tolerance` of the larger one, with both values; empty if none.
inline std::string first_difference(const Weights& a, const Weights& b, double tolerance = 0) {
  if (a.size() != b.size()) return std::to_string(a.size()) + " and " + std::to_string(b.size()) + " weights";
  for (const auto& [name, values] : a) {
    const auto& other = b.at(name);
    if (values.size() != other.size()) return name + ": sizes differ";
    for (size_t i = 0; i < values.size(); i++)
      if (values[i] != other[i] && !(std::abs(values[i] - other[i]) <= tolerance * std::max(std::abs(values[i]), std::abs(other[i]))))
        return name + "[" + std::to_string(i) + "]: " + std::to_string(values[i]) + " and " + std::to_string(other[i]);
  }
  return {};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The mesh flags of so many devices.
inline Flags mesh(int data, int shard, Flags more = {}) {
  more.push_back("--devices.count=" + std::to_string(data * shard));
  more.push_back("--layout.mesh.data=" + std::to_string(data));
  more.push_back("--layout.mesh.shard=" + std::to_string(shard));
  return more;
}

inline Flags operator+(Flags a, const Flags& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace scantling::test
