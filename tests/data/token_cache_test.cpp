// The cache file: it gives back what was kept, and never anything that is damaged or made from other inputs.
#include "scantling/data/token_cache.h"

#include <gtest/gtest.h>

#include "tests/data/data_files.h"

namespace scantling {
namespace {

CachedRows small_rows() {
  RowBuilder builder(Packing::separate, 4);
  builder.add({{1, 2, 3}, {-100, 2, 3}});
  builder.add({{4, 5, 6}, {4, 5, 6}});
  return {views_of(builder.take()), {"one notice", "another"}};
}

template <typename Element>
std::vector<Element> copied(std::span<const Element> values) {
  return {values.begin(), values.end()};
}

TEST(TokenCache, GivesBackEveryArray) {
  const TestFolder folder;
  const auto kept = small_rows();
  ASSERT_EQ(store_token_cache(folder.path("new/deep/a.bin"), 7, kept), std::nullopt);
  const auto found = load_token_cache(folder.path("new/deep/a.bin"), 7);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(copied(found->rows.row_offsets), copied(kept.rows.row_offsets));
  EXPECT_EQ(copied(found->rows.start_offsets), copied(kept.rows.start_offsets));
  EXPECT_EQ(copied(found->rows.starts), copied(kept.rows.starts));
  EXPECT_EQ(copied(found->rows.label_tokens), copied(kept.rows.label_tokens));
  EXPECT_EQ(copied(found->rows.ids), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(copied(found->rows.labels), (std::vector<int32_t>{-100, 2, 3, 4, 5, 6}));
  EXPECT_EQ(found->notices, kept.notices);
}

TEST(TokenCache, MissingOrOtherInputsAreNone) {
  const TestFolder folder;
  EXPECT_FALSE(load_token_cache(folder.path("a.bin"), 7).has_value());
  EXPECT_FALSE(load_token_cache(folder.path(""), 7).has_value());
  store_token_cache(folder.path("a.bin"), 7, small_rows());
  EXPECT_FALSE(load_token_cache(folder.path("a.bin"), 8).has_value());
}

TEST(TokenCache, AnyDamagedByteIsFound) {
  const TestFolder folder;
  store_token_cache(folder.path("a.bin"), 7, small_rows());
  const auto good = bytes_of(folder.path("a.bin"));
  ASSERT_GT(good.size(), 100u);
  for (size_t i = 0; i < good.size(); ++i) {
    auto bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_FALSE(load_token_cache(folder.write("b.bin", bad), 7).has_value()) << "byte " << i << " of " << good.size();
  }
}

TEST(TokenCache, AnyOtherLengthIsFound) {
  const TestFolder folder;
  store_token_cache(folder.path("a.bin"), 7, small_rows());
  const auto good = bytes_of(folder.path("a.bin"));
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(load_token_cache(folder.write("b.bin", good.substr(0, length)), 7).has_value()) << length;
  }
  EXPECT_FALSE(load_token_cache(folder.write("b.bin", good + std::string(8, '\0')), 7).has_value());
}

TEST(TokenCache, FolderThatCannotBeMadeIsAReasonAndLeavesNothing) {
  const TestFolder folder;
  folder.write("file", "");
  EXPECT_NE(store_token_cache(folder.path("file/a.bin"), 7, small_rows()), std::nullopt);
  std::filesystem::create_directories(folder.path("a.bin/full"));
  EXPECT_NE(store_token_cache(folder.path("a.bin"), 7, small_rows()), std::nullopt);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    EXPECT_TRUE(entry.path().filename() == "file" || entry.path().filename() == "a.bin") << entry.path();
  }
}

TEST(TokenCache, ReplacingAFileLeavesMappedRowsAsTheyWere) {
  const TestFolder folder;
  store_token_cache(folder.path("a.bin"), 7, small_rows());
  const auto old_rows = load_token_cache(folder.path("a.bin"), 7);
  RowBuilder builder(Packing::none, 4);
  builder.add({{9, 9}, {9, 9}});
  store_token_cache(folder.path("a.bin"), 8, {views_of(builder.take()), {}});
  EXPECT_EQ(copied(old_rows->rows.ids), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(copied(load_token_cache(folder.path("a.bin"), 8)->rows.ids), (std::vector<int32_t>{9, 9}));
}

TEST(FingerprintOfFile, FollowsTheContent) {
  const TestFolder folder;
  const auto first = fingerprint_of_file(folder.write("a", "text"));
  EXPECT_EQ(fingerprint_of_file(folder.write("b", "text")), first);
  EXPECT_NE(fingerprint_of_file(folder.write("a", "tezt")), first);
  EXPECT_NE(fingerprint_of_file(folder.write("a", "text ")), first);
  EXPECT_NE(fingerprint_of_file(folder.path("none")), fingerprint_of_file(folder.write("empty", "")));
}

}  // namespace
}  // namespace scantling
