// All of SmolLM2-135M-Instruct, imported once: every tensor against published checksums, and the tokenizer against published ids.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "scantling/checkpoint/gguf_import.h"
#include "scantling/checkpoint/hf_folder.h"
#include "scantling/data/tokenizer.h"
#include "tests/checkpoint/sha256.h"
#include "tests/checkpoint/test_files.h"

namespace scantling {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class SmolLM2Import : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const fs::path base = cache != nullptr && *cache != '\0' ? fs::path(cache) : fs::path(home == nullptr ? "" : home) / ".cache";
    gguf_ = base / "scantling" / "smollm2-135m" / "SmolLM2-135M-Instruct.Q4_1.gguf";
    if (!fs::exists(gguf_) || !fs::exists(reference())) return;
    folder_ = std::make_unique<test::TemporaryFolder>();
    result_ = import_gguf(gguf_.string(), *folder_ / "out");
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override {
    if (!fs::exists(gguf_)) GTEST_SKIP() << "no " << gguf_ << ": the model has not been fetched";
    if (!fs::exists(reference())) GTEST_SKIP() << "no " << reference() << ": the shared data is not here";
  }

  static fs::path reference() { return test::shared_data() / "reference" / "smollm2"; }
  static json read(const std::string& name) { return json::parse(test::get((reference() / name).string())); }

  static inline fs::path gguf_;
  static inline std::unique_ptr<test::TemporaryFolder> folder_;
  static inline GgufImportResult result_;
};

void add_tensor(test::Sha256& hash, const WeightFolder& weights, const std::string& name) {
  const TensorInfo& tensor = weights.at(name);
  hash.add(weights.mapped(name, DType::float32), static_cast<size_t>(tensor.bytes()));
}

TEST_F(SmolLM2Import, ConfigIsTheModels) {
  const auto config = json::parse(test::get(*folder_ / "out/config.json"));
  const json expected = {{"hidden_size", 576},   {"num_hidden_layers", 30},        {"num_attention_heads", 9}, {"num_key_value_heads", 3},
                         {"head_dim", 64},       {"intermediate_size", 1536},      {"vocab_size", 49152},      {"rope_theta", 100000.0},
                         {"rms_norm_eps", 1e-5}, {"tie_word_embeddings", true},    {"bos_token_id", 1},        {"eos_token_id", 2},
                         {"pad_token_id", 2},    {"max_position_embeddings", 8192}};
  for (const auto& [key, value] : expected.items()) EXPECT_EQ(config[key], value) << key;
  EXPECT_EQ(result_.parameters, 134515008);
  EXPECT_TRUE(result_.notices.empty());
}

TEST_F(SmolLM2Import, EveryTensorHasThePublishedChecksum) {
  const auto reference = read("weights.json");
  const WeightFolder weights(*folder_ / "out");
  for (const auto& entry : reference["weights"]) {
    const auto name = entry["name"].get<std::string>();
    test::Sha256 hash;
    add_tensor(hash, weights, name);
    EXPECT_EQ(hash.hex(), entry["sha256_of_little_endian_float32"]) << name;
    EXPECT_EQ(json(weights.shape(name)), entry["shape"]) << name;
  }
  auto names = weights.names();
  std::sort(names.begin(), names.end());
  test::Sha256 all;
  for (const auto& name : names) add_tensor(all, weights, name);
  EXPECT_EQ(all.hex(), reference["sha256_of_all_tensors_in_name_order"]);
  EXPECT_EQ(names.size(), reference["tensors"]);
}

TEST_F(SmolLM2Import, TokenizerGivesThePublishedIdsAndTexts) {
  const auto tokenizer = load_tokenizer(*folder_ / "out");
  const auto reference = read("tokenizer.json");
  for (const auto& vector : reference["vectors"]) {
    const auto text = vector["text"].get<std::string>();
    const auto ids = tokenizer->encode(text);
    EXPECT_EQ(json(ids), vector["ids"]) << text;
    EXPECT_EQ(tokenizer->decode(ids), vector["decoded"]) << text;
    if (vector.contains("ids_specials_as_text")) {
      EXPECT_EQ(json(tokenizer->encode(text, {.parse_special = false})), vector["ids_specials_as_text"]) << text;
    }
  }
  EXPECT_EQ(tokenizer->add_bos, false);
}

TEST(Sha256, KnowsThePublishedVectors) {
  EXPECT_EQ(test::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(test::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

}  // namespace
}  // namespace scantling
