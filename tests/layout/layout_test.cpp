// Placements of TL and of odd sizes: units, splits that tile, what is trained, and what is refused.
#include "scantling/layout/layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "scantling/models/description/llama.h"
#include "tests/data/data_files.h"
#include "tests/support/tiny_llama.h"

namespace scantling {
namespace {

using test::tiny_llama;

ModelDescription tl(bool tied = false) { return describe_llama(parse_llama_config(tiny_llama(tied), "config.json")); }

LayoutOptions mesh(int data, int shard) {
  LayoutOptions options;
  options.mesh.data = data;
  options.mesh.shard = shard;
  return options;
}

Layout resolve(const ModelDescription& model, const LayoutOptions& options) {
  DeviceOptions devices;
  devices.count = options.mesh.data * options.mesh.shard;
  return resolve_layout(model, options, devices);
}

std::vector<std::string> unit_names(const Layout& layout) {
  std::vector<std::string> names;
  for (const auto& unit : layout.units) names.push_back(unit.name);
  return names;
}

std::string refusal(const LayoutOptions& options, bool tied = false) {
  return failure_of<ConfigError>([&] { resolve(tl(tied), options); });
}

TEST(Wrap, DefaultIsOneUnitPerBlock) {
  const auto layout = resolve(tl(), mesh(1, 2));
  EXPECT_EQ(unit_names(layout), (std::vector<std::string>{"model.embed_tokens", "model.layers.0", "model.layers.1", "lm_head"}));
  EXPECT_EQ(layout.units_of_block, (std::vector<std::vector<int>>{{0}, {1}, {2}, {3}}));
}

TEST(Wrap, ByClassLeavesTheRestInOneUnit) {
  auto options = mesh(1, 2);
  options.wrap.classes = {"LlamaDecoderLayer"};
  const auto layout = resolve(tl(), options);
  EXPECT_EQ(unit_names(layout), (std::vector<std::string>{"rest", "model.layers.0", "model.layers.1"}));
  EXPECT_EQ(layout.units_of_block, (std::vector<std::vector<int>>{{0}, {1}, {2}, {0}}));
}

TEST(Wrap, TheOutermostNamedClassMakesTheUnit) {
  auto options = mesh(1, 2);
  options.wrap.classes = {"LlamaMLP", "LlamaDecoderLayer"};
  EXPECT_EQ(unit_names(resolve(tl(), options)), (std::vector<std::string>{"rest", "model.layers.0", "model.layers.1"}));
}

TEST(Wrap, BySizeTakesTheSmallestModulesThatAreLargeEnough) {
  auto options = mesh(1, 2);
  options.wrap.min_parameters = 20'000;
  const auto names = unit_names(resolve(tl(), options));
  EXPECT_NE(std::find(names.begin(), names.end(), "model.layers.0.mlp"), names.end());
  options.wrap.min_parameters = 10'000'000;
  EXPECT_EQ(unit_names(resolve(tl(), options)), (std::vector<std::string>{"rest"}));
}

TEST(Wrap, EveryParameterIsInExactlyOneUnit) {
  for (const int64_t size : {0, 1, 1'000, 20'000, 50'000}) {
    auto options = mesh(1, 2);
    options.wrap.min_parameters = size;
    const auto model = tl(true);
    const auto layout = resolve(model, options);
    std::vector<int> seen(model.parameters.size());
    for (const auto& unit : layout.units)
      for (const int p : unit.parameters) seen[static_cast<size_t>(p)]++;
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << "min_parameters " << size;
  }
}

TEST(Wrap, NoPolicySeparatesATiedPair) {
  WrapOptions linear{{"Embedding", "Linear"}, 0}, small{{}, 1'000};
  for (const auto& wrap : {linear, small}) {
    auto options = mesh(1, 2);
    options.wrap = wrap;
    const auto model = tl(true);
    const auto layout = resolve(model, options);
    const auto& tied = layout.parameters[static_cast<size_t>(model.index_of("model.embed_tokens.weight"))];
    for (const size_t block : {size_t{0}, model.blocks.size() - 1}) {
      const auto& units = layout.units_of_block[block];
      EXPECT_NE(std::find(units.begin(), units.end(), tied.unit), units.end()) << "block " << block;
    }
  }
}

TEST(Wrap, AClassTheModelLacksIsRefusedWithTheClassesItHas) {
  for (const char* name : {"LlamaLayer", "LLaMADecoderLayer"}) {
    auto options = mesh(1, 2);
    options.wrap.classes = {name};
    const auto message = refusal(options);
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_NE(message.find("LlamaDecoderLayer, "), std::string::npos) << message;
  }
}

TEST(Placement, StoredRowsTileEveryParameterOnEveryReplica) {
  const auto model = describe_llama(parse_llama_config(test::odd_llama(), "config.json"));
  for (const int shards : {1, 2, 3, 4, 7, 61}) {
    const auto layout = resolve(model, mesh(2, shards));
    for (int p = 0; p < static_cast<int>(model.parameters.size()); p++)
      for (int replica = 0; replica < 2; replica++) {
        int64_t next = 0;
        for (int shard = 0; shard < shards; shard++) {
          const auto rows = layout.stored_rows(p, replica * shards + shard);
          ASSERT_EQ(rows.begin, next) << model.parameters[static_cast<size_t>(p)].name << " on " << shards;
          next = rows.end;
        }
        ASSERT_EQ(next, rows_of(model.parameters[static_cast<size_t>(p)]));
      }
  }
}

TEST(Placement, GradientPartsTileAndLieInTheOwnersRows) {
  const auto model = describe_llama(parse_llama_config(test::odd_llama(), "config.json"));
  for (const auto& [data, shard] : std::vector<std::pair<int, int>>{{1, 1}, {2, 3}, {4, 1}, {3, 7}, {2, 61}}) {
    const auto layout = resolve(model, mesh(data, shard));
    for (int p = 0; p < static_cast<int>(model.parameters.size()); p++) {
      int64_t total = 0;
      for (Rank rank = 0; rank < data * shard; rank++) {
        const auto part = layout.gradient_rows(p, rank), stored = layout.stored_rows(p, rank);
        total += part.size();
        ASSERT_GE(part.begin, stored.begin);
        ASSERT_LE(part.end, stored.end);
      }
      ASSERT_EQ(total, rows_of(model.parameters[static_cast<size_t>(p)])) << data << " x " << shard;
    }
  }
}

TEST(Placement, MoreShardsThanRowsLeaveSomeRanksWithNothing) {
  const auto layout = resolve(tl(), mesh(1, 100));
  const int norm = tl().index_of("model.norm.weight");
  EXPECT_EQ(layout.stored_rows(norm, 0).size(), 1);
  EXPECT_EQ(layout.stored_rows(norm, 99).size(), 0);
}

TEST(Freeze, NamesWhatIsNotTrained) {
  const auto model = tl();
  auto options = mesh(1, 1);
  options.freeze = {"model.layers.0.*", "lm_head.weight"};
  const auto layout = resolve(model, options);
  for (size_t p = 0; p < model.parameters.size(); p++) {
    const auto& name = model.parameters[p].name;
    EXPECT_EQ(layout.parameters[p].trainable, !name.starts_with("model.layers.0.") && name != "lm_head.weight") << name;
  }
}

TEST(Freeze, TrainableFreezesTheRest) {
  const auto model = tl();
  auto options = mesh(1, 1);
  options.trainable = {"*norm*"};
  const auto layout = resolve(model, options);
  int64_t trained = 0;
  for (size_t p = 0; p < model.parameters.size(); p++) trained += layout.parameters[p].trainable ? model.parameters[p].count() : 0;
  EXPECT_EQ(trained, 320);
}

TEST(Freeze, APatternThatMatchesNothingIsRefused) {
  auto options = mesh(1, 1);
  options.freeze = {"model.layers.7.*"};
  EXPECT_NE(refusal(options).find("model.layers.7.*"), std::string::npos) << refusal(options);
}

TEST(Layout, AllFaultsAreToldAtOnce) {
  auto options = mesh(1, 1);
  options.freeze = {"nothing.*"};
  options.wrap.classes = {"LlamaLayer"};
  options.prefetch = -1;
  const auto message = refusal(options);
  for (const char* part : {"nothing.*", "LlamaLayer", "layout.prefetch"}) EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Layout, AMeshThatDoesNotMultiplyUpIsRefused) {
  auto options = mesh(2, 2);
  DeviceOptions devices;
  devices.count = 3;
  const auto message = failure_of<ConfigError>([&] { resolve_layout(tl(), options, devices); });
  EXPECT_NE(message.find("devices.count is 3"), std::string::npos) << message;
}

}  // namespace
}  // namespace scantling
