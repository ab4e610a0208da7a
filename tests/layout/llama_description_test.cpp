// The Llama family's configuration and parameter table: counts of public models, sizes, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "scantling/models/description/llama.h"
#include "scantling/models/description/load.h"

namespace scantling {
namespace {

using nlohmann::json;

json tiny() {
  return {{"model_type", "llama"},  {"vocab_size", 256},        {"hidden_size", 64},        {"intermediate_size", 128},
          {"num_hidden_layers", 2}, {"num_attention_heads", 4}, {"num_key_value_heads", 2}, {"max_position_embeddings", 128}};
}

json tiny_with(const json& changes) {
  json config = tiny();
  config.update(changes);
  return config;
}

ModelDescription describe(const json& config) { return describe_llama(parse_llama_config(config, "config.json")); }

std::vector<int64_t> shape_of(const ModelDescription& model, const std::string& name) {
  const int index = model.index_of(name);
  return index < 0 ? std::vector<int64_t>{} : model.parameters[index].shape;
}

std::string fault_of(const json& config) {
  try {
    parse_llama_config(config, "config.json");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no fault";
}

#define EXPECT_HOLDS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(LlamaDescription, TinyModelHasTheKnownCounts) {
  const auto model = describe(tiny());
  int64_t layer = 0, one_dimensional = 0;
  for (const auto& parameter : model.parameters) {
    if (parameter.blocks[0] == 1) layer += parameter.count();
    if (!parameter.is_matrix()) one_dimensional += parameter.count();
  }
  EXPECT_EQ(model.parameter_count(), 106'816);
  EXPECT_EQ(layer, 36'992);
  EXPECT_EQ(one_dimensional, 320);
  EXPECT_EQ(describe(tiny_with({{"tie_word_embeddings", true}})).parameter_count(), 90'432);
}

TEST(LlamaDescription, PublicConfigurationsHaveTheirPublishedCounts) {
  const std::filesystem::path folder = SCANTLING_SOURCE_DIR "/../shared/data/configs";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no ../shared folder";
  std::ifstream table(folder / "expected_params.tsv");
  std::string name, kind, header;
  std::getline(table, header);
  int num_compared = 0;
  for (int64_t expected = 0; table >> name >> kind >> expected;) {
    json config = json::parse(std::ifstream(folder / (name + ".json")));
    if (config["model_type"] != "llama" && config["model_type"] != "mistral") continue;
    if (name == "mistral-7b-v0.1") config["sliding_window"] = nullptr;  // its window is refused; the count does not depend on it
    EXPECT_EQ(describe(config).parameter_count(), expected) << name;
    num_compared++;
  }
  EXPECT_EQ(num_compared, 14);
}

TEST(LlamaDescription, BlocksAreEmbeddingLayersHead) {
  const auto model = describe(tiny());
  ASSERT_EQ(model.blocks.size(), 4u);
  EXPECT_EQ(model.blocks[0].name, "model.embed_tokens");
  EXPECT_EQ(model.blocks[2].name, "model.layers.1");
  EXPECT_EQ(model.blocks[2].class_name, "LlamaDecoderLayer");
  EXPECT_EQ(model.blocks[3].name, "lm_head");
  EXPECT_EQ(model.parameters[model.index_of("model.norm.weight")].blocks, std::vector<int>{3});
  EXPECT_EQ(model.parameters[model.index_of("lm_head.weight")].blocks, std::vector<int>{3});
}

TEST(LlamaDescription, ParametersStandInHuggingFaceOrder) {
  const auto model = describe(tiny_with({{"attention_bias", true}}));
  std::vector<std::string> names;
  for (const auto& parameter : model.parameters)
    if (parameter.blocks[0] == 1) names.push_back(parameter.name.substr(std::string("model.layers.0.").size()));
  EXPECT_EQ(names, (std::vector<std::string>{"input_layernorm.weight", "self_attn.q_proj.weight", "self_attn.q_proj.bias",
                                             "self_attn.k_proj.weight", "self_attn.k_proj.bias", "self_attn.v_proj.weight",
                                             "self_attn.v_proj.bias", "self_attn.o_proj.weight", "self_attn.o_proj.bias",
                                             "post_attention_layernorm.weight", "mlp.gate_proj.weight", "mlp.up_proj.weight",
                                             "mlp.down_proj.weight"}));
}

TEST(LlamaDescription, TiedEmbeddingIsOneParameterOfTwoBlocks) {
  const auto model = describe(tiny_with({{"tie_word_embeddings", true}}));
  const auto& embedding = model.parameters[model.index_of("model.embed_tokens.weight")];
  EXPECT_EQ(embedding.blocks, (std::vector<int>{0, 3}));
  EXPECT_EQ(embedding.aliases, std::vector<std::string>{"lm_head.weight"});
  EXPECT_EQ(model.index_of("lm_head.weight"), -1);
}

TEST(LlamaDescription, ScopesAreTheClassesOfTheSource) {
  const auto model = describe(tiny());
  const auto& up = model.parameters[model.index_of("model.layers.1.mlp.up_proj.weight")];
  std::string chain;
  for (const auto& scope : up.scopes) chain += scope.class_name + "(" + scope.path + ") ";
  EXPECT_EQ(chain,
            "LlamaForCausalLM() LlamaModel(model) LlamaDecoderLayer(model.layers.1) LlamaMLP(model.layers.1.mlp) "
            "Linear(model.layers.1.mlp.up_proj) ");
  EXPECT_EQ(model.class_names(), (std::vector<std::string>{"LlamaForCausalLM", "LlamaModel", "Embedding", "LlamaDecoderLayer",
                                                           "LlamaRMSNorm", "LlamaAttention", "Linear", "LlamaMLP"}));
}

TEST(LlamaDescription, InitialValuesAreNormalZerosOnes) {
  for (const auto& parameter : describe(tiny_with({{"attention_bias", true}, {"mlp_bias", true}})).parameters) {
    const bool norm = parameter.name.find("norm") != std::string::npos, bias = parameter.name.ends_with(".bias");
    const auto expected = norm ? ParameterInfo::Initial::ones : bias ? ParameterInfo::Initial::zeros : ParameterInfo::Initial::normal;
    EXPECT_EQ(parameter.initial, expected) << parameter.name;
  }
}

TEST(LlamaDescription, HeadDimMayDifferFromHiddenOverHeads) {
  const auto wide = describe(tiny_with({{"head_dim", 32}, {"attention_bias", true}, {"mlp_bias", true}}));
  EXPECT_EQ(shape_of(wide, "model.layers.0.self_attn.q_proj.weight"), (std::vector<int64_t>{128, 64}));
  EXPECT_EQ(shape_of(wide, "model.layers.0.self_attn.o_proj.weight"), (std::vector<int64_t>{64, 128}));
  EXPECT_EQ(shape_of(wide, "model.layers.0.self_attn.k_proj.bias"), std::vector<int64_t>{64});
  EXPECT_EQ(shape_of(wide, "model.layers.0.mlp.down_proj.bias"), std::vector<int64_t>{64});
  const auto plain = describe(tiny_with({{"head_dim", nullptr}}));
  EXPECT_EQ(shape_of(plain, "model.layers.0.self_attn.q_proj.weight"), (std::vector<int64_t>{64, 64}));
  EXPECT_EQ(plain.index_of("model.layers.0.self_attn.q_proj.bias"), -1);
}

TEST(LlamaConfig, MissingKeysTakeTheLibrarysDefaults) {
  const auto config = parse_llama_config({{"model_type", "llama"}}, "config.json");
  EXPECT_EQ(config.hidden, 4096);
  EXPECT_EQ(config.kv_heads, 32);
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.rms_eps, 1e-6);
  EXPECT_EQ(config.rope.theta, 10'000.0);
  EXPECT_EQ(config.eos_ids, std::vector<int64_t>{2});
  EXPECT_FALSE(config.tied);
  const auto mistral = parse_llama_config({{"model_type", "mistral"}, {"sliding_window", nullptr}}, "config.json");
  EXPECT_EQ(mistral.kv_heads, 8);
  EXPECT_EQ(mistral.intermediate, 14'336);
  EXPECT_EQ(describe_llama(mistral).blocks[1].class_name, "MistralDecoderLayer");
}

TEST(LlamaConfig, RotaryScalingIsReadUnderEveryKey) {
  const json scaling = {{"factor", 8.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 64}};
  json by_rope_type = scaling, by_type = scaling, with_theta = scaling;
  by_rope_type["rope_type"] = by_type["type"] = with_theta["rope_type"] = "llama3";
  with_theta["rope_theta"] = 500.0;
  for (const json& config : {tiny_with({{"rope_scaling", by_rope_type}}), tiny_with({{"rope_scaling", by_type}}),
                             tiny_with({{"rope_parameters", with_theta}})}) {
    const auto rope = parse_llama_config(config, "config.json").rope;
    EXPECT_EQ(rope.kind, RopeKind::llama3) << config;
    EXPECT_EQ(rope.factor, 8.0) << config;
    EXPECT_EQ(rope.original_max_positions, 64) << config;
    EXPECT_EQ(rope.theta, config.contains("rope_parameters") ? 500.0 : 10'000.0) << config;
  }
}

TEST(LlamaConfig, AbsentOrNullRotaryScalingIsNone) {
  EXPECT_EQ(parse_llama_config(tiny(), "c").rope.kind, RopeKind::standard);
  EXPECT_EQ(parse_llama_config(tiny_with({{"rope_scaling", nullptr}}), "c").rope.kind, RopeKind::standard);
  EXPECT_EQ(parse_llama_config(tiny_with({{"rope_scaling", {{"type", "linear"}, {"factor", 2}}}}), "c").rope.factor, 2.0);
}

TEST(LlamaConfig, UnknownOrIncompleteRotaryScalingIsRefused) {
  EXPECT_HOLDS(fault_of(tiny_with({{"rope_scaling", {{"type", "foo"}, {"factor", 2}}}})), "rope_scaling.type is \"foo\"");
  EXPECT_HOLDS(fault_of(tiny_with({{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 2}}}})), "\"yarn\"");
  EXPECT_HOLDS(fault_of(tiny_with({{"rope_scaling", {{"type", "linear"}}}})), "rope_scaling.factor is missing");
  EXPECT_HOLDS(fault_of(tiny_with({{"rope_scaling", {{"type", "linear"}, {"rope_type", "llama3"}, {"factor", 2}}}})), "must agree");
  EXPECT_HOLDS(fault_of(tiny_with({{"rope_scaling", "linear"}})), "must be an object");
}

TEST(LlamaConfig, EveryFaultNamesFileKeyAndNumbers) {
  const std::string faults = fault_of(tiny_with({{"num_attention_heads", 3},
                                                 {"num_key_value_heads", 2},
                                                 {"head_dim", 15},
                                                 {"vocab_size", "many"},
                                                 {"hidden_act", "gelu"},
                                                 {"sliding_window", 4096},
                                                 {"attention_dropout", 0.1}}));
  for (const char* part : {"config.json: num_attention_heads is 3, num_key_value_heads is 2", "head_dim is 15", "vocab_size is \"many\"",
                           "hidden_act is \"gelu\"", "sliding_window is 4096", "attention_dropout is 0.1"})
    EXPECT_HOLDS(faults, part);
  EXPECT_HOLDS(fault_of(tiny_with({{"hidden_size", 0}})), "hidden_size is 0");
  EXPECT_HOLDS(fault_of(tiny_with({{"hidden_size", 66}})), "which num_attention_heads 4 does not divide");
  EXPECT_HOLDS(fault_of({{"model_type", "mistral"}}), "the key is missing");
}

TEST(LlamaConfig, SlidingWindowThatIsNotUsedIsAccepted) {
  EXPECT_EQ(fault_of(tiny_with({{"sliding_window", 4096}, {"use_sliding_window", false}})), "no fault");
  EXPECT_EQ(fault_of(tiny_with({{"sliding_window", nullptr}})), "no fault");
}

TEST(LlamaConfig, UnknownKeysAreKept) {
  EXPECT_EQ(parse_llama_config(tiny_with({{"our_own_key", {1, 2}}}), "c").raw["our_own_key"], json({1, 2}));
}

class OpenModel : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name) << content;
    return (folder_ / name).string();
  }
  std::string fault(const std::string& path) {
    try {
      open_model(path);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no fault";
  }
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(OpenModel, FolderHasWeightsAndAFileDoesNot) {
  const std::string config = file("config.json", tiny().dump());
  EXPECT_EQ(open_model(folder_.string()).folder, folder_.string());
  EXPECT_EQ(open_model(config).folder, "");
  EXPECT_EQ(open_model(file("tiny.json", tiny().dump())).description.parameter_count(), 106'816);
  EXPECT_EQ(open_model(config).json(), tiny());
}

TEST_F(OpenModel, WhatIsNoModelIsRefused) {
  EXPECT_HOLDS(fault(folder_.string() + "/none"), "there is no such folder or file");
  EXPECT_HOLDS(fault(folder_.string()), "holds no config.json");
  EXPECT_HOLDS(fault(file("a.txt", "x")), "is no *.json file");
  EXPECT_HOLDS(fault(file("a.json", "{")), "is not valid JSON");
  EXPECT_HOLDS(fault(file("b.json", "[]")), "holds no object");
  EXPECT_HOLDS(fault(file("c.json", "{}")), "model_type is missing");
  EXPECT_HOLDS(fault(file("d.json", R"({"model_type": "gpt2"})")), "\"gpt2\". This version supports llama and mistral");
  EXPECT_HOLDS(fault(file("e.json", R"({"model_type": "llama", "architectures": ["LlamaForSequenceClassification"]})")), "architectures");
}

}  // namespace
}  // namespace scantling
