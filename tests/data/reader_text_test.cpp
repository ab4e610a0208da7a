// Text files: what is dropped, what is kept byte for byte, and what is refused.
#include "scantling/data/reader_text.h"

#include <gtest/gtest.h>

#include "scantling/core/error.h"
#include "tests/data/data_files.h"

namespace scantling {
namespace {

using Views = std::vector<std::string_view>;

TEST(ReaderText, KeepsEveryByteButTheMark) {
  const TestFolder folder;
  EXPECT_EQ(read_text_file(folder.write("a.txt", "\xEF\xBB\xBF one\r\n\ttwo \n\n")), " one\r\n\ttwo \n\n");
  EXPECT_EQ(read_text_file(folder.write("b.txt", "")), "");
}

TEST(ReaderText, NamesTheOffsetOfWhatIsNotUtf8) {
  const TestFolder folder;
  const auto bad = folder.write("bad.txt", "\xEF\xBB\xBFok \xC3\xA9 \xE9t\xE9");
  const auto message = failure_of<DataError>([&] { read_text_file(bad); });
  EXPECT_NE(message.find("bad.txt: byte 9 (0xE9) is not UTF-8"), std::string::npos) << message;
}

TEST(ReaderText, RefusesFolderAndMissingFile) {
  const TestFolder folder;
  EXPECT_NE(failure_of<DataError>([&] { read_data_file(folder.path("none.txt")); }).find("none.txt: does not exist"), std::string::npos);
  EXPECT_NE(failure_of<DataError>([&] { read_data_file(folder.path("")); }).find("is not a regular file"), std::string::npos);
}

TEST(SplitDocuments, WithoutSeparatorTheTextIsOneDocument) {
  EXPECT_EQ(split_documents("a\n%\nb\n", ""), (Views{"a\n%\nb\n"}));
  EXPECT_EQ(split_documents("", ""), Views{});
}

TEST(SplitDocuments, CutsAtLinesEqualToTheSeparatorOnly) {
  EXPECT_EQ(split_documents("a\n%\nb %\n%%\n % \nc\n%\n", "%"), (Views{"a", "b %\n%%\n % \nc"}));
}

TEST(SplitDocuments, AcceptsCrlfAndAMissingLastLineEnd) {
  EXPECT_EQ(split_documents("a\r\nb\r\n%\r\nc", "%"), (Views{"a\r\nb", "c"}));
  EXPECT_EQ(split_documents("a\n%", "%"), Views{"a"});
}

TEST(SplitDocuments, LeavesOutEmptyDocumentsAndKeepsBlankLines) {
  EXPECT_EQ(split_documents("%\n%\n\n\na\n\n%\n\n%\n", "%"), (Views{"\n\na\n"}));
  EXPECT_EQ(split_documents("%\n", "%"), Views{});
}

TEST(SplitDocuments, FindsThePoemsOfAFortuneFile) {
  const auto file = shared_data("text/tang300_zh.txt");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "shared data is not beside the sources: " << file;
  const auto text = read_text_file(file);
  const auto poems = split_documents(text, "%");
  EXPECT_EQ(poems.size(), 313u);
  for (const auto poem : poems) EXPECT_EQ(poem.find("\n%"), std::string_view::npos) << poem;
}

}  // namespace
}  // namespace scantling
