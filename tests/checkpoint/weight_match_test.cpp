// A folder fits a model exactly, or every difference is reported.
#include "scantling/checkpoint/weight_match.h"

#include "scantling/checkpoint/weight_folder_writer.h"
#include "tests/checkpoint/test_files.h"

namespace scantling {
namespace {

using test::contains;

const std::vector<ExpectedTensor> model{{"embed.weight", {4, 2}}, {"layers.0.q.weight", {2, 3}}, {"norm.weight", {2}}};
const std::map<std::string, std::string> tied{{"head.weight", "embed.weight"}};

WeightMatch match_with(const std::vector<ExpectedTensor>& stored) {
  const test::TemporaryFolder folder;
  std::vector<TensorSpec> specs;
  for (const auto& tensor : stored) specs.push_back({tensor.name, DType::float32, tensor.shape});
  WeightFolderWriter(folder.path(), specs).commit();
  return match(WeightFolder(folder.path()), model, tied);
}

TEST(WeightMatch, EqualSetsHaveNoFaults) {
  const auto result = match_with(model);
  EXPECT_TRUE(result.faults.empty());
  EXPECT_TRUE(result.notices.empty());
}

TEST(WeightMatch, ARenamedTensorIsBothMissingAndUnexpected) {
  auto stored = model;
  stored[1].name = "layers.0.query.weight";
  const auto faults = match_with(stored).faults.list();
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_TRUE(contains(faults[0], "1 tensor missing: \"layers.0.q.weight\"")) << faults[0];
  EXPECT_TRUE(contains(faults[1], "1 tensor unexpected: \"layers.0.query.weight\"")) << faults[1];
}

TEST(WeightMatch, APrefixOnEveryNameIsCalledThat) {
  auto stored = model;
  for (auto& tensor : stored) tensor.name = "model." + tensor.name;
  const auto faults = match_with(stored).faults.list();
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_TRUE(contains(faults[0], "3 tensors missing")) << faults[0];
  EXPECT_TRUE(contains(faults[0], "The folder's names begin with \"model.\"")) << faults[0];
}

TEST(WeightMatch, ATransposedTensorIsShownWithBothShapes) {
  auto stored = model;
  stored[1].shape = {3, 2};
  const auto faults = match_with(stored).faults.list();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_TRUE(contains(faults[0], "\"layers.0.q.weight\" is [3, 2], the model needs [2, 3]")) << faults[0];
}

TEST(WeightMatch, TiedAliasesStandInOrAreIgnoredWithANotice) {
  auto stored = model;
  stored.push_back({"head.weight", {4, 2}});
  const auto beside = match_with(stored);
  EXPECT_TRUE(beside.faults.empty());
  ASSERT_EQ(beside.notices.size(), 1U);
  EXPECT_TRUE(contains(beside.notices[0], "head.weight")) << beside.notices[0];
  stored.erase(stored.begin());
  const auto instead = match_with(stored);
  EXPECT_TRUE(instead.faults.empty());
  EXPECT_EQ(instead.stored_as.at("embed.weight"), "head.weight");
}

TEST(WeightMatch, AnAliasOfTheWrongShapeIsAFault) {
  const auto faults = match_with({{"head.weight", {2, 4}}, model[1], model[2]}).faults.list();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_TRUE(contains(faults[0], "\"head.weight\" is [2, 4]")) << faults[0];
}

TEST(WeightMatch, BuffersTheModelComputesAreIgnoredWithANotice) {
  auto stored = model;
  stored.push_back({"layers.0.rotary_emb.inv_freq", {4}});
  stored.push_back({"embeddings.position_ids", {1, 4}});
  const auto result = match_with(stored);
  EXPECT_TRUE(result.faults.empty());
  ASSERT_EQ(result.notices.size(), 1U);
  EXPECT_TRUE(contains(result.notices[0], "2 tensors not read")) << result.notices[0];
}

TEST(WeightMatch, LongListsAreCountedNotPrinted) {
  auto stored = model;
  for (int i = 0; i < 1000; ++i) stored.push_back({"extra." + std::to_string(i), {1}});
  const auto faults = match_with(stored).faults.list();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_TRUE(contains(faults[0], "1,000 tensors unexpected")) << faults[0];
  EXPECT_TRUE(contains(faults[0], "992 more")) << faults[0];
  EXPECT_LT(faults[0].size(), 600U);
}

}  // namespace
}  // namespace scantling
