// Inspecting: what a path holds, for files and folders, and damage is damage.
#include "scantling/checkpoint/inspect.h"

#include "scantling/checkpoint/weight_folder_writer.h"
#include "tests/checkpoint/gguf_builder.h"

namespace scantling {
namespace {

using test::contains;
using test::refusal;

TEST(Inspect, AFileListsItsTensors) {
  const test::TemporaryFolder folder;
  SafetensorsWriter(folder / "x.safetensors", {{"w", DType::bfloat16, {2, 3}}, {"b", DType::float32, {}}}).commit();
  const auto facts = inspect(folder / "x.safetensors");
  EXPECT_EQ(facts["format"], "safetensors");
  EXPECT_EQ(facts["parameters"], 7);
  EXPECT_EQ(facts["tensors"][0].dump(), R"({"name":"w","dtype":"bfloat16","shape":[2,3],"bytes":12,"file":"x.safetensors"})");
  EXPECT_EQ(facts["tensors"][1]["shape"].dump(), "[]");
  EXPECT_EQ(facts["files"][0]["metadata"]["format"], "pt");
  EXPECT_EQ(facts["bytes"], std::filesystem::file_size(folder / "x.safetensors"));
}

TEST(Inspect, AFolderCountsTheModelsParametersOnly) {
  const test::TemporaryFolder folder;
  WeightFolderWriter(folder.path(), {{"a", DType::float32, {4}}, {"b", DType::float32, {2}}}, {.max_file_bytes = 16}).commit();
  WeightFolderWriter(folder.path(), {{"a.moment", DType::float32, {4}}}, {.stem = "optimizer"}).commit();
  const auto facts = inspect(folder.path());
  EXPECT_EQ(facts["format"], "folder");
  EXPECT_EQ(facts["parameters"], 6);
  EXPECT_EQ(facts["files"].size(), 3U);
  EXPECT_EQ(facts["tensors"].size(), 3U);
}

TEST(Inspect, GgufIsToldByItsContentAndLongArraysAreShortened) {
  const test::TemporaryFolder folder;
  const auto bytes = test::GgufBuilder()
                         .string("name", "caf\xc3\xa9 \xff")
                         .strings("words", std::vector<std::string>(20, "w"))
                         .tensor("q", {32}, 8, std::string(34, 'x'))
                         .bytes();
  const auto facts = inspect(test::put(folder / "weights.bin", bytes));
  EXPECT_EQ(facts["format"], "gguf");
  EXPECT_EQ(facts["tensors"][0]["dtype"], "Q8_0");
  EXPECT_EQ(facts["parameters"], 32);
  EXPECT_EQ(facts["files"][0]["metadata"]["words"]["count"], 20);
  EXPECT_EQ(facts["files"][0]["metadata"]["words"]["first"].size(), 8U);
  EXPECT_NO_THROW(facts.dump());
}

TEST(Inspect, DamageAndEmptinessAreRefused) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(contains(refusal([&] { inspect(folder.path()); }), "holds no weights"));
  EXPECT_TRUE(contains(refusal([&] { inspect(folder / "missing"); }), "cannot be opened"));
  test::put(folder / "model.safetensors", "short");
  EXPECT_TRUE(contains(refusal([&] { inspect(folder.path()); }), "5 bytes"));
  EXPECT_TRUE(contains(refusal([&] { inspect(folder / "model.safetensors"); }), "5 bytes"));
}

}  // namespace
}  // namespace scantling
