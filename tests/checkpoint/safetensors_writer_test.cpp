// Writing safetensors: from many places, whole or not at all, and exactly what was asked for.
#include "scantling/checkpoint/safetensors_writer.h"

#include <numeric>
#include <thread>

#include "scantling/checkpoint/safetensors.h"
#include "tests/checkpoint/test_files.h"

namespace scantling {
namespace {

using test::contains;
using test::refusal;

std::vector<float> ramp(int64_t count, float first) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

// The piece of `count` elements that rank `rank` of `ranks` owns: even, the first ranks one more, zero allowed.
std::pair<int64_t, int64_t> piece(int64_t count, int rank, int ranks) { return {count * rank / ranks, count * (rank + 1) / ranks}; }

TEST(SafetensorsWriter, UnevenPiecesOfFourRanksReadBackOnAnyNumber) {
  const test::TemporaryFolder folder;
  const std::vector<TensorSpec> specs{
      {"six", DType::float32, {6}}, {"seven", DType::float32, {7}}, {"one", DType::float32, {1}}, {"matrix", DType::float32, {3, 5}}};
  SafetensorsWriter writer(folder / "x.safetensors", specs);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.emplace_back([&, rank] {
      for (const auto& spec : specs) {
        const auto [begin, end] = piece(spec.elements(), rank, 4);
        const auto values = ramp(end - begin, static_cast<float>(begin) + 0.5F);
        writer.write(spec.name, begin, values.data(), end - begin, DType::float32);
      }
    });
  }
  for (auto& rank : ranks) rank.join();
  writer.commit();
  const SafetensorsFile file(folder / "x.safetensors");
  for (const auto& spec : specs) {
    for (int count = 1; count <= 4; ++count) {
      std::vector<float> whole(static_cast<size_t>(spec.elements()), -1);
      for (int rank = 0; rank < count; ++rank) {
        const auto [begin, end] = piece(spec.elements(), rank, count);
        file.read(spec.name, begin, end - begin, whole.data() + begin, DType::float32);
      }
      EXPECT_EQ(whole, ramp(spec.elements(), 0.5F)) << spec.name << " on " << count;
    }
  }
}

TEST(SafetensorsWriter, HeaderIsAlignedOrderedAndMarkedForTorch) {
  const test::TemporaryFolder folder;
  SafetensorsWriter writer(folder / "x", {{"z", DType::uint8, {3}}, {"a", DType::bfloat16, {}}, {"none", DType::float32, {0, 4}}});
  writer.commit();
  const SafetensorsFile file(folder / "x");
  const auto bytes = test::get(folder / "x");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  EXPECT_EQ(length % 8, 0U);
  EXPECT_EQ(bytes.substr(8, 80), R"({"__metadata__":{"format":"pt"},"z":{"dtype":"U8","shape":[3],"data_offsets":[0,)");
  EXPECT_EQ(file.at("a").shape, std::vector<int64_t>{});
  EXPECT_EQ(file.at("a").begin_byte, 3);
  EXPECT_EQ(file.at("none").shape, (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "pt"}}));
}

TEST(SafetensorsWriter, WritesTheTypeAskedForAcrossChunks) {
  const test::TemporaryFolder folder;
  const int64_t count = (1 << 18) + 3;  // one more than a chunk
  const auto values = ramp(count, -128);
  SafetensorsWriter writer(folder / "x", {{"pad", DType::uint8, {1}}, {"w", DType::bfloat16, {count}}});
  writer.write("w", 0, values.data(), count, DType::float32);
  writer.commit();
  const SafetensorsFile file(folder / "x");
  EXPECT_EQ(file.at("w").dtype, DType::bfloat16);
  std::vector<float> read(static_cast<size_t>(count));
  file.read("w", 0, count, read.data(), DType::float32);
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    ASSERT_EQ(read[at], bfloat16_to_float(float_to_bfloat16(values[at]))) << "element " << i;
  }
}

TEST(SafetensorsWriter, UncommittedLeavesTheOldFileAndNothingElse) {
  const test::TemporaryFolder folder;
  test::put(folder / "x", "old");
  {
    SafetensorsWriter writer(folder / "x", {{"w", DType::float32, {2}}});
    EXPECT_EQ(test::get(folder / "x"), "old");
  }
  EXPECT_EQ(test::get(folder / "x"), "old");
  EXPECT_EQ(test::count_files(folder.path()), 1U);
}

TEST(SafetensorsWriter, HelpersOfOtherProcessesWriteIntoTheSameFile) {
  const test::TemporaryFolder folder;
  const std::vector<TensorSpec> specs{{"w", DType::int32, {4}}};
  const int32_t values[] = {1, 2, 3, 4};
  SafetensorsWriter owner(folder / "x", specs);
  {
    SafetensorsWriter helper(folder / "x", specs, StageRole::helper);
    helper.write("w", 2, values + 2, 2, DType::int32);
    helper.commit();
  }
  owner.write("w", 0, values, 2, DType::int32);
  owner.commit();
  int32_t read[4] = {};
  SafetensorsFile(folder / "x").read("w", 0, 4, read, DType::int32);
  EXPECT_EQ(std::memcmp(read, values, sizeof read), 0);
  EXPECT_EQ(test::count_files(folder.path()), 1U);
}

TEST(SafetensorsWriter, RefusesBadNamesAndShapes) {
  const test::TemporaryFolder folder;
  const auto message = [&](const std::vector<TensorSpec>& specs) {
    return refusal([&] { SafetensorsWriter writer(folder / "x", specs); });
  };
  EXPECT_TRUE(contains(message({{"__metadata__", DType::uint8, {1}}}), "\"__metadata__\""));
  EXPECT_TRUE(contains(message({{"w", DType::uint8, {1}}, {"w", DType::uint8, {1}}}), "two tensors are called \"w\""));
  EXPECT_TRUE(contains(message({{"\xff", DType::uint8, {1}}}), "UTF-8"));
  EXPECT_TRUE(contains(message({{"w", DType::uint8, {-1}}}), "shape [-1]"));
  EXPECT_TRUE(contains(message({{"w", DType::uint8, {int64_t{1} << 40, int64_t{1} << 40}}}), "overflows"));
  EXPECT_EQ(test::count_files(folder.path()), 0U);
}

TEST(SafetensorsWriter, RefusesAFolderThatCannotTakeTheFile) {
  const test::TemporaryFolder folder;
  test::put(folder / "file", "");
  const auto message = [&](const std::string& path) {
    return refusal([&] { SafetensorsWriter writer(path, {{"w", DType::uint8, {1}}}); });
  };
  EXPECT_TRUE(contains(message(folder / "missing/x"), folder / "missing/x"));
  EXPECT_TRUE(contains(message(folder / "file/x"), "failed"));
}

TEST(SafetensorsWriter, TwoRunsCannotBuildOneFile) {
  const test::TemporaryFolder folder;
  const std::vector<TensorSpec> specs{{"w", DType::uint8, {1}}};
  SafetensorsWriter first(folder / "x", specs);
  EXPECT_TRUE(contains(refusal([&] { SafetensorsWriter second(folder / "x", specs); }), "another process"));
  first.commit();
  EXPECT_EQ(SafetensorsFile(folder / "x").tensors().size(), 1U);
}

TEST(StagedFolder, ReplacesTheTargetWholeOrNotAtAll) {
  const test::TemporaryFolder folder;
  const auto target = folder / "model";
  std::filesystem::create_directory(target);
  {
    StagedFolder staged(target, false);  // an empty folder is no obstacle
    write_file(staged.path() / "a", "1");
    EXPECT_EQ(test::count_files(target), 0U);
    staged.commit();
  }
  EXPECT_TRUE(contains(refusal([&] { StagedFolder staged(target, false); }), "not empty"));
  { StagedFolder abandoned(target, true); }
  EXPECT_EQ(test::get(target + "/a"), "1");
  StagedFolder staged(target + "/", true);
  write_file(staged.path() / "b", "2");
  staged.commit();
  EXPECT_FALSE(std::filesystem::exists(target + "/a"));
  EXPECT_EQ(test::get(target + "/b"), "2");
  EXPECT_EQ(test::count_files(folder.path()), 1U);
}

}  // namespace
}  // namespace scantling
