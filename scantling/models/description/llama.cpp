// The table is written once, in the order of Hugging Face's own modules, with the classes around each parameter: wrapping by class,
// freezing by name and loading all follow from it.
#include "scantling/models/description/llama.h"

#include <fmt/format.h>

#include "scantling/core/text.h"

namespace scantling {
namespace {

// Where the two families' defaults differ.
struct FamilyDefaults {
  const char* class_prefix;
  int64_t intermediate;
  int64_t kv_heads;  // 0: as many as heads
  int64_t max_positions;
  int64_t sliding_window;  // 0: none
};
constexpr int64_t most_layers = 10'000;  // far above any model's depth; each has its own entries in the table
constexpr FamilyDefaults llama_defaults{"Llama", 11'008, 0, 2048, 0};
constexpr FamilyDefaults mistral_defaults{"Mistral", 14'336, 8, 131'072, 4096};

void read_sizes(ConfigReader& reader, const FamilyDefaults& defaults, LlamaConfig& config) {
  config.hidden = reader.whole("hidden_size", config.hidden);
  config.intermediate = reader.whole("intermediate_size", defaults.intermediate);
  config.layers = reader.whole("num_hidden_layers", config.layers);
  if (config.layers > most_layers) reader.fault(fmt::format("num_hidden_layers is {}. It must be at most {}.", config.layers, most_layers));
  config.heads = reader.whole("num_attention_heads", config.heads);
  const bool family_default = defaults.kv_heads > 0 && !reader.has_key("num_key_value_heads");
  config.kv_heads = reader.whole("num_key_value_heads", family_default ? defaults.kv_heads : config.heads);
  config.vocabulary = reader.whole("vocab_size", config.vocabulary);
  config.max_positions = reader.whole("max_position_embeddings", defaults.max_positions);
  if (!reader.has("head_dim") && config.hidden % config.heads != 0)
    reader.fault(fmt::format("hidden_size is {}, which num_attention_heads {} does not divide. Give head_dim, or a hidden_size of {}.",
                             config.hidden, config.heads, std::max<int64_t>(1, config.hidden / config.heads) * config.heads));
  config.head_dim = reader.whole("head_dim", std::max<int64_t>(1, config.hidden / config.heads));
  if (config.head_dim % 2 != 0)
    reader.fault(fmt::format("{} is {}. Rotary positions need an even head size. Use {}.",
                             reader.has("head_dim") ? "head_dim" : "hidden_size / num_attention_heads", config.head_dim,
                             config.head_dim + 1));
  if (config.heads % config.kv_heads != 0) {
    std::vector<std::string> fitting;
    for (const int64_t divisor : divisors(config.heads)) fitting.push_back(std::to_string(divisor));
    reader.fault(fmt::format("num_attention_heads is {}, num_key_value_heads is {}. The second must divide the first. Use {}.",
                             config.heads, config.kv_heads, join_names(fitting)));
  }
}

// What the file may ask for and this version does not compute.
void refuse_unsupported(ConfigReader& reader, const FamilyDefaults& defaults) {
  if (const std::string act = reader.text("hidden_act", "silu"); act != "silu" && act != "swish")
    reader.fault(fmt::format("hidden_act is \"{}\". This version computes silu.", act));
  if (const double dropout = reader.number("attention_dropout", 0.0); dropout != 0.0)
    reader.fault(fmt::format("attention_dropout is {}. This version has none. Set it to 0.0.", dropout));
  if (reader.has("quantization_config"))
    reader.fault("quantization_config is given. Training needs weights that are not quantised. Use the model's full-precision folder.");
  // Mistral's library gives a window to a file without the key, but an explicit null means none.
  const bool absent = defaults.sliding_window > 0 && !reader.has_key("sliding_window");
  const int64_t window = absent ? defaults.sliding_window : reader.whole("sliding_window", 0, 0);
  if (window > 0 && reader.flag("use_sliding_window", true))
    reader.fault(fmt::format("sliding_window is {}{}. This version attends to the whole row. Set it to null if no row is longer than that.",
                             window, absent ? " (the default of mistral, for the key is missing)" : ""));
}

// Builds the table from the outside in: every parameter carries the classes and paths of the modules around it.
class TableBuilder {
 public:
  explicit TableBuilder(const LlamaConfig& config) : config_(config) {
    model_.family = "llama";
    model_.initializer_range = config.initializer_range;
    model_.max_positions = config.max_positions;
    model_.vocabulary_size = config.vocabulary;
  }

  ModelDescription build() {
    const int last = static_cast<int>(config_.layers) + 1;
    const ParameterInfo::Scope root{prefixed("ForCausalLM"), ""}, body{prefixed("Model"), "model"};
    model_.blocks.push_back({"model.embed_tokens", "Embedding"});
    add({root, body, {"Embedding", "model.embed_tokens"}}, "weight", {config_.vocabulary, config_.hidden}, {0}, Initial::normal);
    if (config_.tied) {
      model_.parameters.back().blocks.push_back(last);
      model_.parameters.back().aliases.push_back("lm_head.weight");
    }
    for (int layer = 0; layer < config_.layers; layer++) add_layer({root, body}, layer);
    model_.blocks.push_back({"lm_head", prefixed("Head")});
    add({root, body, {prefixed("RMSNorm"), "model.norm"}}, "weight", {config_.hidden}, {last}, Initial::ones);
    if (!config_.tied) add_linear({root}, "lm_head", config_.hidden, config_.vocabulary, false, last);
    return std::move(model_);
  }

 private:
  using Scopes = std::vector<ParameterInfo::Scope>;
  using Initial = ParameterInfo::Initial;

  std::string prefixed(const std::string& name) const { return config_.class_prefix + name; }

  void add_layer(Scopes scopes, int layer) {
    const std::string path = fmt::format("model.layers.{}", layer);
    const int block = layer + 1;
    const int64_t queries = config_.heads * config_.head_dim, keys = config_.kv_heads * config_.head_dim;
    model_.blocks.push_back({path, prefixed("DecoderLayer")});
    scopes.push_back({prefixed("DecoderLayer"), path});
    Scopes attention = scopes, mlp = scopes;
    attention.push_back({prefixed("Attention"), path + ".self_attn"});
    mlp.push_back({prefixed("MLP"), path + ".mlp"});

    add_norm(scopes, path + ".input_layernorm", block);
    add_linear(attention, path + ".self_attn.q_proj", config_.hidden, queries, config_.attention_bias, block);
    add_linear(attention, path + ".self_attn.k_proj", config_.hidden, keys, config_.attention_bias, block);
    add_linear(attention, path + ".self_attn.v_proj", config_.hidden, keys, config_.attention_bias, block);
    add_linear(attention, path + ".self_attn.o_proj", queries, config_.hidden, config_.attention_bias, block);
    add_norm(scopes, path + ".post_attention_layernorm", block);
    add_linear(mlp, path + ".mlp.gate_proj", config_.hidden, config_.intermediate, config_.mlp_bias, block);
    add_linear(mlp, path + ".mlp.up_proj", config_.hidden, config_.intermediate, config_.mlp_bias, block);
    add_linear(mlp, path + ".mlp.down_proj", config_.intermediate, config_.hidden, config_.mlp_bias, block);
  }

  void add_norm(Scopes scopes, const std::string& path, int block) {
    scopes.push_back({prefixed("RMSNorm"), path});
    add(std::move(scopes), "weight", {config_.hidden}, {block}, Initial::ones);
  }

  void add_linear(Scopes scopes, const std::string& path, int64_t inputs, int64_t outputs, bool bias, int block) {
    scopes.push_back({"Linear", path});
    add(scopes, "weight", {outputs, inputs}, {block}, Initial::normal);
    if (bias) add(std::move(scopes), "bias", {outputs}, {block}, Initial::zeros);
  }

  void add(Scopes scopes, const std::string& name, std::vector<int64_t> shape, std::vector<int> blocks, Initial initial) {
    ParameterInfo parameter;
    parameter.name = scopes.back().path + "." + name;
    parameter.shape = std::move(shape);
    parameter.blocks = std::move(blocks);
    parameter.scopes = std::move(scopes);
    parameter.initial = initial;
    model_.parameters.push_back(std::move(parameter));
  }

  const LlamaConfig& config_;
  ModelDescription model_;
};

}  // namespace

LlamaConfig parse_llama_config(const nlohmann::json& json, const std::string& file) {
  if (!json.is_object()) throw ConfigError(fmt::format("{}: holds no object. A model's configuration is one JSON object.", file));
  Faults faults;
  ConfigReader reader(json, file, faults);
  LlamaConfig config;
  config.raw = json;
  const FamilyDefaults& defaults = reader.text("model_type", "llama") == "mistral" ? mistral_defaults : llama_defaults;
  config.class_prefix = defaults.class_prefix;
  read_sizes(reader, defaults, config);
  config.rms_eps = reader.positive_number("rms_norm_eps", config.rms_eps);
  config.rope = parse_rope(reader, config.max_positions);
  // Mistral has no bias keys: its library ignores them.
  config.attention_bias = &defaults == &llama_defaults && reader.flag("attention_bias", false);
  config.mlp_bias = &defaults == &llama_defaults && reader.flag("mlp_bias", false);
  config.tied = reader.flag("tie_word_embeddings", false);
  config.initializer_range = reader.positive_number("initializer_range", config.initializer_range);
  config.bos_ids = reader.ids("bos_token_id", {1});
  config.eos_ids = reader.ids("eos_token_id", {2});
  refuse_unsupported(reader, defaults);
  faults.throw_if_any();
  return config;
}

ModelDescription describe_llama(const LlamaConfig& config) { return TableBuilder(config).build(); }

}  // namespace scantling
