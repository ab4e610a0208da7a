// Folders of weights: an index is held to its files and to its folder, and files of any cut give the same tensors.
#include "scantling/checkpoint/hf_folder.h"

#include "scantling/checkpoint/weight_folder_writer.h"
#include "tests/checkpoint/test_files.h"

namespace scantling {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::put;
using test::refusal;

std::string tensor_file(const std::string& name) {
  return test::safetensors_bytes(R"({")" + name + R"(":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "ab");
}

void put_index(const fs::path& folder, const std::string& weight_map) {
  put((folder / "model.safetensors.index.json").string(), R"({"metadata":{},"weight_map":)" + weight_map + "}");
}

std::string open_message(const fs::path& folder) {
  return refusal([&] { WeightFolder weights(folder); });
}

TEST(WeightFolder, EntriesThatLeadOutsideAreRefusedUnopened) {
  const test::TemporaryFolder outer;
  const fs::path folder = outer.path() / "model";
  fs::create_directory(folder);
  put(outer / "outside.safetensors", tensor_file("w"));
  fs::create_symlink(outer / "outside.safetensors", folder / "link.safetensors");
  fs::create_directory_symlink(outer.path(), folder / "up");
  const std::string absolute = outer / "outside.safetensors";
  for (const std::string& entry : {std::string("../outside.safetensors"), std::string("sub/../../outside.safetensors"), absolute,
                                   std::string("link.safetensors"), std::string("up/outside.safetensors"), std::string("")}) {
    put_index(folder, R"({"w":")" + entry + R"("})");
    const auto message = open_message(folder);
    EXPECT_TRUE(contains(message, "entry \"w\" names \"" + entry + "\"")) << message;
  }
}

TEST(WeightFolder, AllEntriesAreJudgedBeforeAnyFileIsOpened) {
  const test::TemporaryFolder outer;
  const fs::path folder = outer.path() / "model";
  fs::create_directory(folder);
  put((folder / "a.safetensors").string(), "damaged");
  put_index(folder, R"({"a":"a.safetensors","b":"../b.safetensors"})");
  EXPECT_TRUE(contains(open_message(folder), "entry \"b\""));
}

TEST(WeightFolder, LinksAndSubfoldersInsideAreFine) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "sub");
  put(folder / "sub/real.safetensors", tensor_file("w"));
  fs::create_symlink("sub/real.safetensors", folder / "link.safetensors");
  put_index(folder.path(), R"({"w":"link.safetensors"})");
  EXPECT_EQ(WeightFolder(folder.path()).names(), std::vector<std::string>{"w"});
}

TEST(WeightFolder, IndexAndFilesMustAgree) {
  const test::TemporaryFolder folder;
  put(folder / "a.safetensors", tensor_file("a"));
  put(folder / "b.safetensors", tensor_file("b"));
  put(folder / "a2.safetensors", tensor_file("a"));
  const std::pair<std::string, std::string> faults[] = {{R"({"a":"a.safetensors","c":"a.safetensors"})", "entry \"c\""},
                                                        {R"({"a":"b.safetensors","b":"a.safetensors"})", "entry \"a\""},
                                                        {R"({"a":"a.safetensors","x":"b.safetensors"})", "\"x\""},
                                                        {R"({"a":"a.safetensors","a":"b.safetensors"})", "\"a\" occurs twice"},
                                                        {R"({"a":"a.safetensors","b":"a2.safetensors"})", "tensor \"a\""},
                                                        {R"({"a":"gone.safetensors"})", "gone.safetensors"},
                                                        {R"({"a":5})", "\"a\" is no string"},
                                                        {"[]", "weight_map"},
                                                        {"{", "not valid JSON"}};
  for (const auto& [map, named] : faults) {
    put_index(folder.path(), map);
    const auto message = open_message(folder.path());
    EXPECT_TRUE(contains(message, named)) << map << ": " << message;
  }
  put_index(folder.path(), R"({"a":"a.safetensors"})");
  EXPECT_EQ(open_message(folder.path()), "no error");
}

TEST(WeightFolder, FilesWithMoreTensorsThanTheIndexAreRefused) {
  const test::TemporaryFolder folder;
  put(folder / "m.safetensors",
      test::safetensors_bytes(
          R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", "ab"));
  put_index(folder.path(), R"({"a":"m.safetensors"})");
  EXPECT_TRUE(contains(open_message(folder.path()), "no entry for tensor \"b\""));
}

TEST(WeightFolder, NothingToReadIsNamed) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(contains(open_message(folder.path()), "neither model.safetensors nor model.safetensors.index.json"));
  put(folder / "pytorch_model.bin", "");
  EXPECT_TRUE(contains(open_message(folder.path()), "only pytorch_model.bin"));
  EXPECT_TRUE(contains(open_message(folder / "missing"), "not a folder"));
}

TEST(WeightFolderWriter, CutsByBytesAndReadsBackTheSame) {
  const std::vector<TensorSpec> specs{
      {"a", DType::int32, {2}}, {"big", DType::int32, {9}}, {"c", DType::int32, {1}}, {"d", DType::int32, {1}}};
  for (const int64_t most : {int64_t{1000}, int64_t{8}, int64_t{1}}) {
    const test::TemporaryFolder folder;
    WeightFolderWriter writer(folder.path(), specs, {.max_file_bytes = most});
    int32_t next = 0;
    for (const auto& spec : specs) {
      for (int64_t i = 0; i < spec.elements(); ++i, ++next) writer.write(spec.name, i, &next, 1, DType::int32);
    }
    writer.commit();
    const WeightFolder weights(folder.path());
    EXPECT_EQ(weights.files().size(), most == 1000 ? 1U : most == 8 ? 3U : 4U);
    int32_t expected = 0;
    for (const auto& spec : specs) {
      std::vector<int32_t> values(static_cast<size_t>(spec.elements()));
      weights.read(spec.name, 0, spec.elements(), values.data(), DType::int32);
      for (const int32_t value : values) EXPECT_EQ(value, expected++) << spec.name;
    }
    EXPECT_NE(weights.mapped("c", DType::int32), nullptr);
    EXPECT_EQ(weights.mapped("c", DType::float32), nullptr);
  }
}

TEST(WeightFolderWriter, WritesHuggingFacesNamesAndIndex) {
  const test::TemporaryFolder folder;
  WeightFolderWriter(folder.path(), {{"a", DType::uint8, {1}}, {"b", DType::uint8, {1}}}, {.max_file_bytes = 1}).commit();
  EXPECT_TRUE(fs::exists(folder / "model-00001-of-00002.safetensors"));
  const auto index = test::get(folder / "model.safetensors.index.json");
  EXPECT_TRUE(contains(index, "\"total_size\": 2")) << index;
  EXPECT_TRUE(contains(index, "\"b\": \"model-00002-of-00002.safetensors\"")) << index;
}

TEST(WeightFolderWriter, OldWeightsAreNotMixedWithNew) {
  const test::TemporaryFolder folder;
  WeightFolderWriter(folder.path(), {{"a", DType::uint8, {1}}}).commit();
  EXPECT_TRUE(contains(refusal([&] {
                         WeightFolderWriter again(folder.path(), {{"a", DType::uint8, {1}}});
                       }),
                       "already has model.safetensors"));
  WeightFolderWriter(folder.path(), {{"a", DType::uint8, {1}}}, {.stem = "optimizer"}).commit();
  EXPECT_EQ(WeightFolder(folder.path(), "optimizer").names(), std::vector<std::string>{"a"});
}

TEST(WeightFolder, ReadsARealModel) {
  const auto folder = test::shared_data() / "checkpoints" / "stories260K-hf";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder << ": the shared data is not here";
  const WeightFolder weights(folder);
  EXPECT_EQ(weights.names().size(), 47U);
  EXPECT_EQ(weights.shape("model.embed_tokens.weight"), (std::vector<int64_t>{512, 64}));
  EXPECT_EQ(weights.dtype("model.norm.weight"), DType::float32);
  EXPECT_TRUE(fs::exists(weights.config_path()));
}

}  // namespace
}  // namespace scantling
