// Everything is judged before the output folder is touched: shapes, names, scaling, tokenizer. Then one pass over the tensors.
#include "scantling/checkpoint/gguf_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "scantling/checkpoint/gguf_llama_config.h"
#include "scantling/checkpoint/gguf_llama_tensors.h"
#include "scantling/checkpoint/staged_output.h"
#include "scantling/core/error.h"
#include "scantling/data/tokenizer_gguf.h"

namespace scantling {
namespace {

template <typename To, typename From>
std::vector<To> converted(const std::vector<From>& values) {
  std::vector<To> result;
  for (const auto& value : values) result.push_back(static_cast<To>(value));
  return result;
}

// The values of the "tokenizer.*" keys; what they mean is judged where the tokenizer is made.
GgufTokenizer tokenizer_of(const GgufFile& file) {
  const auto key = [&](std::string_view name) { return file.find(fmt::format("tokenizer.ggml.{}", name)); };
  const auto id = [&](std::string_view name) -> std::optional<int32_t> {
    const GgufValue* value = key(name);
    return value == nullptr ? std::nullopt : std::optional(static_cast<int32_t>(std::min<int64_t>(value->as_integer(), INT32_MAX)));
  };
  const auto flag = [&](std::string_view name) { return key(name) == nullptr ? std::nullopt : std::optional(key(name)->as_bool()); };
  GgufTokenizer tokenizer;
  tokenizer.source = file.path();
  tokenizer.model = file.at("tokenizer.ggml.model").as_string();
  tokenizer.tokens = converted<std::string>(file.at("tokenizer.ggml.tokens").as_strings());
  if (const auto* value = key("pre")) tokenizer.pre = value->as_string();
  if (const auto* value = key("token_type")) tokenizer.token_types = converted<int32_t>(value->as_integers());
  if (const auto* value = key("scores")) tokenizer.scores = converted<float>(value->as_numbers());
  if (const auto* value = key("merges")) tokenizer.merges = converted<std::string>(value->as_strings());
  if (const auto* value = file.find("tokenizer.chat_template")) tokenizer.chat_template = value->as_string();
  tokenizer.bos_id = id("bos_token_id");
  tokenizer.eos_id = id("eos_token_id");
  tokenizer.unknown_id = id("unknown_token_id");
  tokenizer.padding_id = id("padding_token_id");
  tokenizer.add_bos = flag("add_bos_token");
  tokenizer.add_space_prefix = flag("add_space_prefix");
  return tokenizer;
}

}  // namespace

GgufImportResult import_gguf(const std::string& gguf_path, const std::filesystem::path& out_folder, const GgufImportOptions& options) {
  check(options.dtype == DType::float32 || options.dtype == DType::bfloat16 || options.dtype == DType::float16, "a dtype weights can have");
  const GgufFile file(gguf_path);
  const LlamaShape shape = llama_shape(file);
  const auto config = llama_config(file, shape, options.dtype);
  const auto tensors = llama_tensors(file, shape);
  const GgufTokenizer tokenizer = tokenizer_of(file);
  if (static_cast<int64_t>(tokenizer.tokens.size()) > shape.vocabulary) {
    refuse(gguf_path,
           fmt::format("tokenizer.ggml.tokens has {} tokens, the embedding {} rows. Every token needs a row. Convert the model again.",
                       tokenizer.tokens.size(), shape.vocabulary));
  }
  const TokenizerDocuments documents = tokenizer_json_from_gguf(tokenizer);

  GgufImportResult result;
  result.notices = unused_llama_keys(file);
  std::vector<TensorSpec> specs;
  for (const auto& tensor : tensors) {
    specs.push_back({tensor.name, options.dtype, tensor.source->shape});
    result.parameters += tensor.source->elements();
  }
  result.tensors = static_cast<int64_t>(tensors.size());

  StagedFolder staged(out_folder, options.overwrite);
  WeightFolderWriter writer(staged.path(), specs);
  for (const auto& tensor : tensors) write_imported(file, tensor, shape.head_dim, writer);
  writer.commit();
  const auto put = [&](const char* name, const auto& json) { write_file(staged.path() / name, json.dump(2) + "\n"); };
  put("config.json", config);
  put("generation_config.json", generation_config(file));
  put("tokenizer.json", documents.tokenizer);
  put("tokenizer_config.json", documents.config);
  staged.commit();
  return result;
}

}  // namespace scantling
