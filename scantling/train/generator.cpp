#include "scantling/train/generator.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scantling/core/random.h"
#include "scantling/data/chat_template.h"
#include "scantling/models/llama.h"
#include "scantling/train/weights.h"

namespace scantling {
namespace {

Bundle bundle_of(const std::vector<int32_t>& ids) {
  const auto length = static_cast<int64_t>(ids.size());
  auto row = [&] { return at::empty({1, length}, at::TensorOptions().dtype(at::kLong)); };
  auto id = row(), positions = row(), starts = row();
  for (int64_t t = 0; t < length; t++) {
    id.data_ptr<int64_t>()[t] = ids[static_cast<size_t>(t)];
    positions.data_ptr<int64_t>()[t] = t;
    starts.data_ptr<int64_t>()[t] = 0;
  }
  Bundle bundle;
  bundle.set("ids", id, false);
  bundle.set("positions", positions, false);
  bundle.set("starts", starts, false);
  return bundle;
}

std::vector<int32_t> prompt_ids(const Tokenizer& tokenizer, const std::string& prompt, bool chat) {
  if (!chat) {
    auto ids = tokenizer.encode(prompt);
    if (ids.empty() && tokenizer.bos_id) ids.push_back(*tokenizer.bos_id);
    if (ids.empty()) throw ConfigError("The prompt is empty and the tokenizer has no start token. Give a prompt of at least one token.");
    return ids;
  }
  const auto chat_template = ChatTemplate::detect(tokenizer.chat_template);
  return tokenizer.encode(chat_template.render({{"user", prompt}}, true), {.parse_special = true, .add_bos = false});
}

void require_positions(int64_t prompt_tokens, int64_t new_tokens, int64_t positions) {
  if (prompt_tokens > positions)
    throw ConfigError(fmt::format("The prompt has {} tokens. The model has {} positions for prompt and new tokens. Shorten the prompt.",
                                  prompt_tokens, positions));
  if (new_tokens > positions - prompt_tokens)
    throw ConfigError(fmt::format(
        "The prompt has {} tokens and --max-new-tokens is {}: together beyond the model's {} positions. Use --max-new-tokens {} or less.",
        prompt_tokens, new_tokens, positions, positions - prompt_tokens));
}

// What follows the prompt in the text of both: the space before a word is the word's, and a tokenizer drops it at the start of a text.
std::string continuation(const Tokenizer& tokenizer, const std::vector<int32_t>& prompt, const std::vector<int32_t>& made) {
  auto all = prompt;
  all.insert(all.end(), made.begin(), made.end());
  const auto before = tokenizer.decode(prompt), whole = tokenizer.decode(all);
  return whole.starts_with(before) ? whole.substr(before.size()) : tokenizer.decode(made);
}

}  // namespace

void GenerateOptions::validate(Faults& faults) const {
  if (max_new_tokens < 0) faults.add(fmt::format("--max-new-tokens ({}) must be 0 or more.", max_new_tokens));
  if (!(temperature >= 0)) faults.add(fmt::format("--temperature ({}) must be 0 (greedy) or more.", temperature));
  if (top_k < 0) faults.add(fmt::format("--top-k ({}) must be 0 (all tokens) or more.", top_k));
  if (!(top_p > 0 && top_p <= 1)) faults.add(fmt::format("--top-p ({}) must be above 0 and at most 1.", top_p));
}

struct Generator::Weights {
  std::vector<at::Tensor> tensors;
};

Generator::Generator(const std::string& model_folder) : source_(open_model(model_folder)), weights_(std::make_unique<Weights>()) {
  if (source_.folder.empty())
    throw ConfigError(
        fmt::format("{} is a configuration without weights. Name a Hugging Face folder with weights and a tokenizer.", model_folder));
  model_ = make_llama(source_.llama);
  tokenizer_ = load_tokenizer(source_.folder);
  const InitialWeights weights(source_, 0);
  const auto read = weights.reader();
  for (size_t p = 0; p < model_.description.parameters.size(); p++) {
    const auto& info = model_.description.parameters[p];
    weights_->tensors.push_back(at::empty(info.shape, at::TensorOptions().dtype(at::kFloat)));
    read(static_cast<int>(p), 0, info.count(), weights_->tensors.back().data_ptr<float>());
  }
}

Generator::~Generator() = default;

std::vector<float> Generator::next_logits(const std::vector<int32_t>& ids) const {
  c10::NoGradGuard no_gradients;
  const RankView view(&weights_->tensors);
  auto bundle = bundle_of(ids);
  for (size_t b = 0; b < model_.blocks.size(); b++) {
    if (b + 1 == model_.blocks.size())
      bundle.set("x", bundle.at("x").narrow(1, static_cast<int64_t>(ids.size()) - 1, 1).contiguous(), false);
    bundle = model_.blocks[b]->forward(bundle, view);
  }
  const auto logits = bundle.at("logits").contiguous();
  const auto* first = logits.const_data_ptr<float>();
  return {first, first + logits.numel()};
}

Generated Generator::generate(const std::string& prompt, const GenerateOptions& options) const {
  Faults faults;
  options.validate(faults);
  faults.throw_if_any();
  Generated result;
  result.prompt_ids = prompt_ids(*tokenizer_, prompt, options.chat);
  require_positions(static_cast<int64_t>(result.prompt_ids.size()), options.max_new_tokens, model_.description.max_positions);
  auto ids = result.prompt_ids;
  for (int64_t n = 0; n < options.max_new_tokens; n++) {
    const auto next = choose_token(next_logits(ids), options, uniform(options.seed, stream_of("generate"), static_cast<uint64_t>(n)));
    if (std::binary_search(tokenizer_->stop_ids.begin(), tokenizer_->stop_ids.end(), next)) break;
    ids.push_back(next);
    result.ids.push_back(next);
  }
  result.text = continuation(*tokenizer_, result.prompt_ids, result.ids);
  return result;
}

int32_t choose_token(const std::vector<float>& logits, const GenerateOptions& options, double draw) {
  if (options.temperature == 0) return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)]; });
  if (options.top_k > 0 && static_cast<size_t>(options.top_k) < order.size()) order.resize(static_cast<size_t>(options.top_k));
  std::vector<double> weight;
  double total = 0;
  for (const int32_t id : order) {
    weight.push_back(std::exp((logits[static_cast<size_t>(id)] - logits[static_cast<size_t>(order.front())]) / options.temperature));
    total += weight.back();
  }
  size_t kept = 0;
  double reached = 0;
  while (kept < order.size() && (kept == 0 || reached < options.top_p * total)) reached += weight[kept++];
  double left = draw * reached;
  for (size_t i = 0; i < kept; i++)
    if ((left -= weight[i]) < 0) return order[i];
  return order[kept - 1];
}

}  // namespace scantling
