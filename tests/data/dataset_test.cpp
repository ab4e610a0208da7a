// The data set as a run sees it: rows, counts and notices, the same from the file and from the cache.
#include "scantling/data/dataset.h"

#include <gtest/gtest.h>

#include <chrono>

#include "scantling/core/error.h"
#include "tests/data/data_files.h"
#include "tests/data/fake_encoder.h"

namespace scantling {
namespace {

using Ids = std::vector<int32_t>;

// The source's encoder counts how often it was asked for.
DatasetSource counting_source(const std::string& path, DataFormat format, int& asked) {
  auto source = fake_source(path, format);
  source.encoder = [&asked] {
    ++asked;
    return fake_encoder();
  };
  return source;
}

TEST(TokenDataset, CountsLabelsAfterTheShift) {
  const TestFolder folder;
  const auto path = folder.write("d.jsonl",
                                 "{\"input_ids\": [1, 2]}\n{\"input_ids\": [1, 2, 3]}\n{\"input_ids\": [1, 2, 3, 4, 5]}\n"
                                 "{\"input_ids\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}\n");
  const auto data = TokenDataset::load(fake_source(path, DataFormat::tokens));
  ASSERT_EQ(data.rows(), 4);
  EXPECT_EQ(data.total_tokens(), 19);
  EXPECT_EQ(data.total_label_tokens(), 15);
  EXPECT_EQ(data.label_tokens(3), 8);
  EXPECT_EQ(ids_of(data.row(1)), (Ids{1, 2, 3}));
  EXPECT_TRUE(data.notices().empty());
}

TEST(TokenDataset, KeepsRowsWhoseAnswerWasCutAndSaysSo) {
  const TestFolder folder;
  const std::string masked =
      R"({"input_ids": [1,2,3,4,5,6,7,8,9,10,11,12], "labels": [-100,-100,-100,-100,-100,-100,-100,-100,9,10,11,12]})";
  const std::string good = R"({"input_ids": [1,2,3,4,5,6,7,8], "labels": [-100,-100,-100,-100,5,6,7,8]})";
  auto source = fake_source(folder.write("d.jsonl", masked + "\n" + good + "\n" + masked), DataFormat::tokens);
  source.options.max_length = 8;
  const auto data = TokenDataset::load(source);
  ASSERT_EQ(data.rows(), 3);
  EXPECT_EQ(data.rows_without_labels(), 2);
  EXPECT_EQ(data.total_label_tokens(), 4);
  ASSERT_EQ(data.notices().size(), 2u);
  EXPECT_NE(data.notices()[0].find("2 of 3 rows were longer than data.max_length 8 and were cut; 8 tokens"), std::string::npos)
      << data.notices()[0];
  EXPECT_NE(data.notices()[1].find("2 of 3 rows have no label token"), std::string::npos) << data.notices()[1];
}

TEST(TokenDataset, PacksFortunesAcrossRows) {
  const TestFolder folder;
  auto source = fake_source(folder.write("f.txt", "abc\n%\nde\n%\nfghij\n"), DataFormat::text);
  source.options.document_separator = "%";
  source.options.packing = true;
  source.options.max_length = 6;
  const auto data = TokenDataset::load(source);
  ASSERT_EQ(data.rows(), 3);
  EXPECT_EQ(shown(data.row(0).ids), "abc$de");
  EXPECT_EQ(shown(data.row(1).ids), "$fghij");
  EXPECT_EQ(shown(data.row(2).ids), "$");
  EXPECT_EQ(Ids(data.row(0).starts.begin(), data.row(0).starts.end()), (Ids{0, 4}));
  EXPECT_EQ(data.total_label_tokens(), 3 + 1 + 0 + 4);
}

TEST(TokenDataset, RefusesDataWithoutADocument) {
  const TestFolder folder;
  for (const auto format : {DataFormat::text, DataFormat::jsonl, DataFormat::instruct, DataFormat::tokens}) {
    const auto message = failure_of<DataError>([&] { TokenDataset::load(fake_source(folder.write("e", ""), format)); });
    EXPECT_NE(message.find("holds no document that can be used"), std::string::npos) << message;
  }
  auto source = fake_source(folder.write("b.jsonl", "{\"no\": 1}\n"), DataFormat::jsonl);
  source.options.skip_bad_lines = true;
  EXPECT_NE(failure_of<DataError>([&] { TokenDataset::load(source); }), "");
}

TEST(TokenDataset, SecondLoadIsEqualAndDoesNotTokenize) {
  const TestFolder folder;
  int asked = 0;
  auto source = counting_source(folder.write("d.jsonl", "{\"text\": \"abcdef\"}\nbroken\n{\"text\": \"\"}\n"), DataFormat::jsonl, asked);
  source.options.skip_bad_lines = true;
  source.options.max_length = 4;
  source.cache_folder = folder.path("cache");
  const auto cold = TokenDataset::load(source);
  const auto warm = TokenDataset::load(source);
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(warm.rows(), cold.rows());
  for (int64_t i = 0; i < cold.rows(); ++i) EXPECT_EQ(labels_of(warm.row(i)), labels_of(cold.row(i))) << i;
  EXPECT_EQ(warm.notices(), cold.notices());
  EXPECT_EQ(warm.notices().size(), 3u);
  EXPECT_EQ(warm.rows_without_labels(), 1);
}

TEST(TokenDataset, EveryChangeOfAnInputIsSeen) {
  const TestFolder folder;
  int asked = 0;
  auto source = counting_source(folder.write("d.txt", "abc"), DataFormat::text, asked);
  source.cache_folder = folder.path("cache");
  const auto load = [&] { return shown(TokenDataset::load(source).row(0).ids); };
  EXPECT_EQ(load(), "abc$");
  folder.write("d.txt", "xyz");
  EXPECT_EQ(load(), "xyz$");
  source.tokenizer_fingerprint = 5;
  EXPECT_EQ(load(), "xyz$");
  source.options.max_length = 2;
  EXPECT_EQ(load(), "xy");
  source.options.packing = true;
  EXPECT_EQ(load(), "xy");
  EXPECT_EQ(asked, 5);
  EXPECT_EQ(load(), "xy");
  EXPECT_EQ(asked, 5);
}

TEST(TokenDataset, DamagedCacheIsMadeAgain) {
  const TestFolder folder;
  int asked = 0;
  auto source = counting_source(folder.write("d.txt", "abc"), DataFormat::text, asked);
  source.cache_folder = folder.path("cache");
  TokenDataset::load(source);
  for (const auto& entry : std::filesystem::directory_iterator(source.cache_folder)) {
    std::fstream(entry.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(200).write("x", 1);
  }
  EXPECT_EQ(shown(TokenDataset::load(source).row(0).ids), "abc$");
  EXPECT_EQ(asked, 2);
  TokenDataset::load(source);
  EXPECT_EQ(asked, 2);
}

TEST(TokenDataset, WorksWithOneNoticeWhereNothingCanBeKept) {
  const TestFolder folder;
  auto source = fake_source(folder.write("d.txt", "abc"), DataFormat::text);
  source.cache_folder = folder.path("d.txt/cache");
  const auto data = TokenDataset::load(source);
  EXPECT_EQ(shown(data.row(0).ids), "abc$");
  ASSERT_EQ(data.notices().size(), 1u);
  EXPECT_NE(data.notices()[0].find("tokens cannot be kept in"), std::string::npos) << data.notices()[0];
}

TEST(TokenDataset, WarmLoadOfAMegabyteTakesMilliseconds) {
  const TestFolder folder;
  auto source = fake_source(folder.write("d.txt", std::string(1 << 20, 'a')), DataFormat::text);
  source.options.packing = true;
  source.cache_folder = folder.path("cache");
  const auto rows = TokenDataset::load(source).rows();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(TokenDataset::load(source).rows(), rows);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  RecordProperty("warm_load_ms", std::to_string(taken.count()));
  EXPECT_LT(taken.count(), 200) << "ms; the bound leaves room for a busy machine";
}

TEST(FingerprintOfTokenizer, FollowsEveryFileATokenizerReads) {
  const TestFolder folder;
  folder.write("tokenizer.json", "{}");
  const auto first = fingerprint_of_tokenizer(folder.path(""));
  folder.write("model.safetensors", "weights");
  EXPECT_EQ(fingerprint_of_tokenizer(folder.path("")), first);
  folder.write("tokenizer_config.json", "{\"add_bos_token\": true}");
  const auto second = fingerprint_of_tokenizer(folder.path(""));
  EXPECT_NE(second, first);
  folder.write("tokenizer_config.json", "{\"add_bos_token\": false}");
  EXPECT_NE(fingerprint_of_tokenizer(folder.path("")), second);
}

}  // namespace
}  // namespace scantling
