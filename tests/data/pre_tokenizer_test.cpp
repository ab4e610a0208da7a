// How text is cut into words, step by step.
#include "scantling/data/pre_tokenizer.h"

#include <gtest/gtest.h>

#include "scantling/core/error.h"

namespace scantling {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Words cut(const json& document, std::string_view text, bool at_start = true) {
  const PreTokenizer pre_tokenizer(JsonField(document, "tokenizer.json", "pre_tokenizer"));
  const Pieces pieces = pre_tokenizer.cut(text, at_start);
  return {pieces.words.begin(), pieces.words.end()};
}

json split_at(const std::string& regex, const std::string& behavior, bool invert = false) {
  return {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", behavior}, {"invert", invert}};
}

TEST(PreTokenizer, WithoutAFieldTextIsOneWord) {
  const PreTokenizer none(std::nullopt);
  EXPECT_EQ(none.cut("a b", true).words.size(), 1u);
  EXPECT_TRUE(none.cut("", true).words.empty());
}

TEST(PreTokenizer, CutsLikeGpt2) {
  const json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  EXPECT_EQ(cut(byte_level, "I'm 12½ —ok!  x\n\n"), (Words{"I", "'m", " 12½", " —", "ok", "!", " ", " x", "\n\n"}));
  EXPECT_EQ(cut(byte_level, "a\u00a0\u2003b"), (Words{"a", "\u00a0", "\u2003", "b"}));
  EXPECT_EQ(cut(byte_level, "a\u180eb"), (Words{"a", "\u180e", "b"}));  // no white space in Unicode
}

TEST(PreTokenizer, PrefixSpaceIsPutOnce) {
  const json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", true}};
  EXPECT_EQ(cut(byte_level, "a b"), (Words{" a", " b"}));
  EXPECT_EQ(cut(byte_level, " a"), Words{" a"});
}

TEST(PreTokenizer, SingleDigitsLeaveSpacesToThePieceBefore) {
  const json smollm = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, {{"type", "ByteLevel"}, {"add_prefix_space", false}}}}};
  EXPECT_EQ(cut(smollm, "a  12 ²"), (Words{"a", "  ", "1", "2", " ", "²"}));
}

TEST(PreTokenizer, SplitBehaviours) {
  EXPECT_EQ(cut(split_at("-", "Isolated"), "a--b"), (Words{"a", "-", "-", "b"}));
  EXPECT_EQ(cut(split_at("-", "MergedWithPrevious"), "a--b"), (Words{"a-", "-", "b"}));
  EXPECT_EQ(cut(split_at("-", "MergedWithNext"), "a--b"), (Words{"a", "-", "-b"}));
  EXPECT_EQ(cut(split_at("-", "Contiguous"), "a--b"), (Words{"a", "--", "b"}));
  EXPECT_EQ(cut(split_at("[a-z]|-", "Removed", true), "a-b"), (Words{"a", "-", "b"}));
}

TEST(PreTokenizer, NeverDropsText) { EXPECT_THROW(cut(split_at("-", "Removed"), "a-b"), DataError); }

TEST(PreTokenizer, MetaspaceMarksWhereItsSchemeSays) {
  const auto metaspace = [](const char* scheme) { return json{{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}}; };
  EXPECT_EQ(cut(metaspace("always"), "a  b", false), (Words{"▁a", "▁", "▁b"}));
  EXPECT_EQ(cut(metaspace("first"), "a b", false), (Words{"a", "▁b"}));
  EXPECT_EQ(cut(metaspace("first"), "a b", true), (Words{"▁a", "▁b"}));
  EXPECT_EQ(cut(metaspace("never"), "a b", true), (Words{"a", "▁b"}));
}

TEST(PreTokenizer, LongRunsStayWithinTheMatchersLimits) {
  const json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  for (const char* unit : {" ", "a", "\n", "1", "é", "!"}) {
    std::string text;
    while (text.size() < 1000000) text += unit;
    size_t bytes = 0;
    for (const std::string& word : cut(byte_level, text)) bytes += word.size();
    EXPECT_EQ(bytes, text.size()) << unit;
  }
}

}  // namespace
}  // namespace scantling
