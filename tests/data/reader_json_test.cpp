// Untidy JSON files: no record is lost without a word, and every complaint has the line of the fault.
#include "scantling/data/reader_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scantling/core/error.h"
#include "tests/data/data_files.h"

namespace scantling {
namespace {

struct Outcome {
  std::vector<std::string> texts;
  std::vector<std::string> notices;
};

Outcome read(const std::string& path, bool skip = false, bool array = false) {
  Outcome outcome;
  const auto use = [&](const nlohmann::json& record) {
    if (!record.contains("text")) throw DataError("has no \"text\"");
    outcome.texts.push_back(record["text"]);
  };
  read_records({path, array, skip, "an object with a string \"text\""}, use, outcome.notices);
  return outcome;
}

using Texts = std::vector<std::string>;
// A mark and a good record, a blank line, good, broken, without text, good without a line end.
const std::string untidy =
    "\xEF\xBB\xBF{\"text\": \"one\"}\n\n{\"text\": \"two\"}\n{\"text\": \"bro\n{\"txt\": \"x\"}\n{\"text\": \"three\"}";

std::string with_crlf(std::string text) {
  for (size_t i = 0; (i = text.find('\n', i)) != std::string::npos; i += 2) text.insert(i, "\r");
  return text;
}

TEST(ReadRecords, NamesFileAndLineOfTheFirstBadRecord) {
  const TestFolder folder;
  for (const auto& content : {untidy, with_crlf(untidy)}) {
    const auto path = folder.write("u.jsonl", content);
    const auto message = failure_of<DataError>([&] { read(path); });
    EXPECT_EQ(message.rfind(path + " line 4: not valid JSON (", 0), 0u) << message;
    EXPECT_NE(message.find("data.skip_bad_lines: true"), std::string::npos) << message;
  }
}

TEST(ReadRecords, SkipsAndListsBadLinesInOneNotice) {
  const TestFolder folder;
  for (const auto& content : {untidy, with_crlf(untidy)}) {
    const auto outcome = read(folder.write("u.jsonl", content), true);
    EXPECT_EQ(outcome.texts, (Texts{"one", "two", "three"}));
    ASSERT_EQ(outcome.notices.size(), 1u);
    const auto& notice = outcome.notices[0];
    EXPECT_NE(notice.find("left out 2 of 5 records: line 4 (not valid JSON"), std::string::npos) << notice;
    EXPECT_NE(notice.find("line 5 (has no \"text\")"), std::string::npos) << notice;
  }
}

TEST(ReadRecords, TidyFileGivesNoNotice) {
  const TestFolder folder;
  const auto outcome = read(folder.write("t.jsonl", "{\"text\": \"a\\nb\"}\n{\"text\": \"\"}\n"), true);
  EXPECT_EQ(outcome.texts, (Texts{"a\nb", ""}));
  EXPECT_TRUE(outcome.notices.empty());
}

TEST(ReadRecords, EmptyAndBlankFilesHaveNoRecords) {
  const TestFolder folder;
  for (const auto* content : {"", "\n \r\n", "\xEF\xBB\xBF"}) EXPECT_TRUE(read(folder.write("e.jsonl", content)).texts.empty());
}

TEST(ReadRecords, RefusesBytesThatAreNotUtf8) {
  const TestFolder folder;
  const auto path = folder.write("l.jsonl", "{\"text\": \"a\"}\n{\"text\": \"\xE9\"}\n");
  const auto message = failure_of<DataError>([&] { read(path); });
  EXPECT_NE(message.find("line 2: byte 10 of the record (0xE9) is not UTF-8"), std::string::npos) << message;
  EXPECT_EQ(read(path, true).texts, Texts{"a"});
}

TEST(ReadRecords, ReadsAnArrayWhereOneIsAllowed) {
  const TestFolder folder;
  const auto path = folder.write("a.json", "\xEF\xBB\xBF\n[ {\"text\": \"a],}\\\"[\", \"more\": [1, {}]},\n\n {\"text\": \"b\"}\n]\n");
  EXPECT_EQ(read(path, false, true).texts, (Texts{"a],}\"[", "b"}));
  EXPECT_NE(failure_of<DataError>([&] { read(path); }).find(" line 2: not valid JSON"), std::string::npos);
  EXPECT_TRUE(read(folder.write("none.json", "[ ]"), false, true).texts.empty());
}

TEST(ReadRecords, NamesLinesInAnArrayToo) {
  const TestFolder folder;
  const auto path = folder.write("a.json", "[\n{\"text\": \"a\"},\n{\n\"text\": x\n},\n{\"no\": 1}\n,{\"text\": \"d\"}]");
  EXPECT_NE(failure_of<DataError>([&] { read(path, false, true); }).find("a.json line 4: not valid JSON"), std::string::npos);
  const auto outcome = read(path, true, true);
  EXPECT_EQ(outcome.texts, (Texts{"a", "d"}));
  EXPECT_NE(outcome.notices.at(0).find("line 6 (has no"), std::string::npos) << outcome.notices[0];
}

TEST(ReadRecords, RefusesAnArrayThatIsNone) {
  const TestFolder folder;
  const auto fault = [&](const char* content) {
    const auto path = folder.write("a.json", content);
    return failure_of<DataError>([&] { read(path, true, true); });
  };
  EXPECT_NE(fault("[{\"text\": \"a\"}").find("line 1: the array has no end"), std::string::npos);
  EXPECT_NE(fault("[{\"text\": \"a\"},\n]").find("line 1: an element of the array is missing"), std::string::npos);
  EXPECT_NE(fault("[{\"text\": \"a\"}]\n{}").find("line 2: there is text after the array"), std::string::npos);
  EXPECT_NE(fault("[").find("the array has no end"), std::string::npos);
}

}  // namespace
}  // namespace scantling
