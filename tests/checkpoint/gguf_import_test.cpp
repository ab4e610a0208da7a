// Importing GGUF: a tiny model with known rows, what cannot be represented, and all of SmolLM2-135M against published checksums.
#include "scantling/checkpoint/gguf_import.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "scantling/checkpoint/gguf_llama_config.h"
#include "scantling/checkpoint/hf_folder.h"
#include "tests/checkpoint/gguf_builder.h"

namespace scantling {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::contains;
using test::GgufBuilder;
using test::refusal;

std::vector<float> ramp(size_t count, float first) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = first + static_cast<float>(i);
  return values;
}

// One layer, hidden 8, two heads of size 4, one key/value head, MLP 6, five tokens.
struct Tiny {
  GgufBuilder builder;
  Tiny() {
    builder.string("general.architecture", "llama")
        .number("llama.block_count", 1U)
        .number("llama.context_length", 16U)
        .number("llama.embedding_length", 8U);
    builder.number("llama.feed_forward_length", 6U).number("llama.attention.head_count", 2U).number("llama.attention.head_count_kv", 1U);
    builder.number("llama.attention.layer_norm_rms_epsilon", 1e-5F).number("llama.rope.freq_base", 50000.0F);
    builder.string("tokenizer.ggml.model", "gpt2")
        .string("tokenizer.ggml.pre", "gpt-2")
        .strings("tokenizer.ggml.tokens", {"a", "b", "ab", "c", "<end>"});
    builder.integers("tokenizer.ggml.token_type", {1, 1, 1, 1, 3})
        .strings("tokenizer.ggml.merges", {"a b"})
        .number("tokenizer.ggml.eos_token_id", 4U);
  }
  Tiny& tensors(const std::string& without = "") {
    const auto add = [&](const std::string& name, std::vector<uint64_t> dimensions, float first) {
      size_t count = 1;
      for (const uint64_t size : dimensions) count *= size;
      if (name != without) builder.floats(name, dimensions, ramp(count, first));
    };
    add("token_embd.weight", {8, 5}, 0);
    add("blk.0.attn_norm.weight", {8}, 1);
    add("blk.0.attn_q.weight", {8, 8}, 100);
    add("blk.0.attn_k.weight", {8, 4}, 200);
    add("blk.0.attn_v.weight", {8, 4}, 300);
    add("blk.0.attn_output.weight", {8, 8}, 400);
    add("blk.0.ffn_norm.weight", {8}, 2);
    add("blk.0.ffn_gate.weight", {8, 6}, 500);
    add("blk.0.ffn_up.weight", {8, 6}, 600);
    add("blk.0.ffn_down.weight", {6, 8}, 700);
    add("output_norm.weight", {8}, 3);
    return *this;
  }
};

struct Imported {
  test::TemporaryFolder folder;
  std::string message;
  GgufImportResult result;
  explicit Imported(const GgufBuilder& builder, const GgufImportOptions& options = {}) {
    const auto path = test::put(folder / "x.gguf", builder.bytes());
    message = refusal([&] { result = import_gguf(path, folder / "out", options); });
  }
  json config() const { return json::parse(test::get(folder / "out/config.json")); }
};

std::vector<float> read_all(const WeightFolder& weights, const std::string& name) {
  std::vector<float> values(static_cast<size_t>(weights.at(name).elements()));
  weights.read(name, 0, weights.at(name).elements(), values.data(), DType::float32);
  return values;
}

TEST(GgufImport, ConfigSaysWhatTheFileSays) {
  const Imported imported(Tiny().tensors().builder);
  ASSERT_EQ(imported.message, "no error");
  const auto config = imported.config();
  EXPECT_EQ(config["architectures"].dump(), R"(["LlamaForCausalLM"])");
  EXPECT_EQ(config["head_dim"], 4);
  EXPECT_EQ(config["num_key_value_heads"], 1);
  EXPECT_EQ(config["rms_norm_eps"].dump(), "1e-05");
  EXPECT_EQ(config["rope_theta"].dump(), "50000.0");
  EXPECT_EQ(config["vocab_size"], 5);
  EXPECT_EQ(config["eos_token_id"], 4);
  EXPECT_TRUE(config["bos_token_id"].is_null());
  EXPECT_TRUE(config["rope_scaling"].is_null());
  EXPECT_EQ(config["tie_word_embeddings"], true);
  EXPECT_EQ(config["torch_dtype"], "float32");
  EXPECT_EQ(imported.result.parameters, 40 + 8 + 64 + 32 + 32 + 64 + 8 + 48 * 3 + 8);
  EXPECT_EQ(imported.result.tensors, 11);
}

TEST(GgufImport, RowsOfQueryAndKeyBecomeHalfSplitOthersStay) {
  const Imported imported(Tiny().tensors().builder);
  ASSERT_EQ(imported.message, "no error");
  const WeightFolder weights(imported.folder / "out");
  const auto q = read_all(weights, "model.layers.0.self_attn.q_proj.weight");
  const std::vector<float> file_rows{0, 2, 1, 3, 4, 6, 5, 7};  // row r of the result is this row of the file
  for (size_t row = 0; row < 8; ++row) EXPECT_EQ(q[row * 8], 100 + 8 * file_rows[row]) << "row " << row;
  EXPECT_EQ(read_all(weights, "model.layers.0.self_attn.k_proj.weight")[8], 200 + 8 * 2);
  EXPECT_EQ(read_all(weights, "model.layers.0.self_attn.v_proj.weight"), ramp(32, 300));
  EXPECT_EQ(read_all(weights, "model.layers.0.mlp.down_proj.weight"), ramp(48, 700));
  EXPECT_EQ(weights.shape("model.layers.0.mlp.down_proj.weight"), (std::vector<int64_t>{8, 6}));
}

TEST(GgufImport, UntiedHeadsAndBiasesAreKept) {
  auto tiny = Tiny().tensors();
  tiny.builder.floats("output.weight", {8, 5}, ramp(40, 900));
  for (const auto& [name, size] :
       std::vector<std::pair<std::string, size_t>>{{"attn_q", 8}, {"attn_k", 4}, {"attn_v", 4}, {"attn_output", 8}}) {
    tiny.builder.floats("blk.0." + name + ".bias", {size}, ramp(size, 0));
  }
  const Imported imported(tiny.builder);
  ASSERT_EQ(imported.message, "no error");
  EXPECT_EQ(imported.config()["tie_word_embeddings"], false);
  EXPECT_EQ(imported.config()["attention_bias"], true);
  const WeightFolder weights(imported.folder / "out");
  EXPECT_EQ(read_all(weights, "lm_head.weight"), ramp(40, 900));
  EXPECT_EQ(read_all(weights, "model.layers.0.self_attn.q_proj.bias"), (std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(read_all(weights, "model.layers.0.self_attn.o_proj.bias"), ramp(8, 0));
}

TEST(GgufImport, WritesTheTypeAskedFor) {
  const Imported imported(Tiny().tensors().builder, {.dtype = DType::bfloat16});
  ASSERT_EQ(imported.message, "no error");
  EXPECT_EQ(imported.config()["torch_dtype"], "bfloat16");
  EXPECT_EQ(WeightFolder(imported.folder / "out").dtype("model.norm.weight"), DType::bfloat16);
}

TEST(GgufImport, WhatIsNoLlamaIsRefusedByName) {
  EXPECT_TRUE(contains(Imported(GgufBuilder().string("general.architecture", "mamba")).message, "general.architecture is \"mamba\""));
  EXPECT_TRUE(contains(Imported(GgufBuilder().string("general.name", "x")).message, "no key general.architecture"));
  const auto with = [](const std::function<void(GgufBuilder&)>& change) {
    auto tiny = Tiny().tensors();
    change(tiny.builder);
    return Imported(tiny.builder).message;
  };
  EXPECT_TRUE(contains(with([](auto& b) { b.number("llama.expert_count", 8U); }), "llama.expert_count"));
  EXPECT_TRUE(contains(with([](auto& b) { b.string("llama.rope.scaling.type", "yarn"); }), "\"yarn\""));
  EXPECT_TRUE(contains(with([](auto& b) { b.number("llama.rope.dimension_count", 2U); }), "rotated 2"));
  EXPECT_TRUE(contains(with([](auto& b) { b.number("llama.vocab_size", 6U); }), "llama.vocab_size is 6"));
  EXPECT_TRUE(contains(with([](auto& b) { b.floats("blk.0.ffn_gate_inp.weight", {8}, ramp(8, 0)); }),
                       "unexpected (\"blk.0.ffn_gate_inp.weight\")"));
}

TEST(GgufImport, MissingAndMisshapenTensorsLeaveNothingBehind) {
  const Imported missing(Tiny().tensors("blk.0.ffn_up.weight").builder);
  EXPECT_TRUE(contains(missing.message, "missing (blk.0.ffn_up.weight)")) << missing.message;
  auto tiny = Tiny().tensors("blk.0.attn_k.weight");
  tiny.builder.floats("blk.0.attn_k.weight", {8, 8}, ramp(64, 0));
  const Imported misshapen(tiny.builder);
  EXPECT_TRUE(contains(misshapen.message, "blk.0.attn_k.weight is [8, 8], the model needs [4, 8]")) << misshapen.message;
  EXPECT_EQ(test::count_files(misshapen.folder.path()), 1U);
}

TEST(GgufImport, AFullFolderIsReplacedOnlyWhenAsked) {
  const test::TemporaryFolder folder;
  const auto path = test::put(folder / "x.gguf", Tiny().tensors().builder.bytes());
  fs::create_directory(folder / "out");
  test::put(folder / "out/mine", "kept");
  EXPECT_TRUE(contains(refusal([&] { import_gguf(path, folder / "out"); }), "not empty"));
  EXPECT_EQ(test::get(folder / "out/mine"), "kept");
  import_gguf(path, folder / "out", {.overwrite = true});
  EXPECT_FALSE(fs::exists(folder / "out/mine"));
  EXPECT_TRUE(fs::exists(folder / "out/tokenizer.json"));
}

TEST(GgufImport, KeysWithoutCounterpartAreNoticed) {
  auto tiny = Tiny().tensors();
  tiny.builder.number("llama.something_new", 1U);
  const Imported imported(tiny.builder);
  ASSERT_EQ(imported.result.notices.size(), 1U);
  EXPECT_TRUE(contains(imported.result.notices[0], "llama.something_new"));
}

TEST(GgufImport, LinearScalingIsCarriedOver) {
  auto tiny = Tiny().tensors();
  tiny.builder.string("llama.rope.scaling.type", "linear").number("llama.rope.scaling.factor", 2.5F);
  EXPECT_EQ(Imported(tiny.builder).config()["rope_scaling"].dump(), R"({"factor":2.5,"rope_type":"linear"})");
}

// Factors of a head of 64 with base 500,000, factor 32 and original length 8,192, as the published formula gives them.
std::vector<float> llama3_factors() {
  std::vector<float> factors;
  for (int pair = 0; pair < 32; ++pair) {
    const double wavelength = 2 * std::numbers::pi * std::pow(500000.0, pair / 32.0);
    const double smooth = std::clamp((8192 / wavelength - 1) / 3, 0.0, 1.0);
    factors.push_back(static_cast<float>(1 / ((1 - smooth) / 32 + smooth)));
  }
  return factors;
}

json scaling_from(const std::vector<float>& factors) {
  const test::TemporaryFolder folder;
  GgufBuilder builder;
  builder.number("llama.rope.freq_base", 500000.0F)
      .number("llama.context_length", 16U)
      .number("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  builder.floats("rope_freqs.weight", {factors.size()}, factors);
  const GgufFile file(test::put(folder / "x", builder.bytes()));
  LlamaShape shape;
  shape.head_dim = 64;
  return llama_config(file, shape, DType::float32)["rope_scaling"];
}

TEST(GgufImport, Llama3FactorsAreRecognised) {
  const auto factors = llama3_factors();
  ASSERT_EQ(factors[14], 1);
  ASSERT_GT(factors[15], 1);
  ASSERT_LT(factors[17], 32);
  ASSERT_EQ(factors[18], 32);
  EXPECT_EQ(scaling_from(factors).dump(),
            R"({"factor":32.0,"high_freq_factor":4.0,"low_freq_factor":1.0,"original_max_position_embeddings":8192,"rope_type":"llama3"})");
  EXPECT_TRUE(scaling_from(std::vector<float>(32, 1)).is_null());
}

TEST(GgufImport, FactorsOfAnotherRuleAreRefused) {
  auto factors = llama3_factors();
  factors[16] *= 1.01F;
  EXPECT_TRUE(contains(refusal([&] { scaling_from(factors); }), "rope_freqs.weight has"));
  factors[16] = std::nanf("");
  EXPECT_TRUE(contains(refusal([&] { scaling_from(factors); }), "rope_freqs.weight has nan at 16"));
  EXPECT_TRUE(contains(refusal([&] { scaling_from({1, 2}); }), "head_dim / 2 = 32"));
}

}  // namespace
}  // namespace scantling
