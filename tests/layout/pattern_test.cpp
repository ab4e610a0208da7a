// Patterns over parameter names: what they match, what they refuse, and that one which matches nothing is never silent.
#include "scantling/layout/pattern.h"

#include <gtest/gtest.h>

namespace scantling {
namespace {

const std::vector<std::string> names = {"model.embed_tokens.weight",
                                        "model.layers.0.mlp.up_proj.weight",
                                        "model.layers.1.mlp.up_proj.weight",
                                        "model.layers.10.mlp.up_proj.weight",
                                        "model.norm.weight",
                                        "lm_head.weight"};

std::vector<size_t> matched_by(const std::string& pattern) {
  Faults faults;
  auto matched = apply_patterns({pattern}, names, "layout.freeze", faults);
  faults.throw_if_any();
  return matched[0];
}

std::string fault_of(const std::string& pattern) {
  Faults faults;
  EXPECT_TRUE(apply_patterns({pattern}, names, "layout.freeze", faults)[0].empty());
  return faults.list().size() == 1 ? faults.list()[0] : "no single fault";
}

using Indices = std::vector<size_t>;

TEST(Pattern, StarMatchesDotsToo) {
  EXPECT_EQ(matched_by("model.layers.*"), (Indices{1, 2, 3}));
  EXPECT_EQ(matched_by("*"), (Indices{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(matched_by("*norm*"), Indices{4});
}

TEST(Pattern, QuestionMarkIsOneCharacter) { EXPECT_EQ(matched_by("model.layers.?.*"), (Indices{1, 2})); }

TEST(Pattern, RangeIsInclusiveAndOfWholeNumbers) {
  EXPECT_EQ(matched_by("model.layers.{0..1}.*"), (Indices{1, 2}));
  EXPECT_EQ(matched_by("model.layers.{1..10}.*"), (Indices{2, 3}));
  EXPECT_EQ(matched_by("model.layers.{10..10}.*"), Indices{3});
}

TEST(Pattern, ChoicesNest) {
  EXPECT_EQ(matched_by("{lm_head,model.norm}.weight"), (Indices{4, 5}));
  EXPECT_EQ(matched_by("{lm_head,model.{norm,layers.{0..1}.*}}.weight"), (Indices{1, 2, 4, 5}));
  EXPECT_EQ(matched_by("model.layers.1{,0}.*"), (Indices{2, 3}));
}

TEST(Pattern, WholeNameMustMatch) {
  EXPECT_FALSE(Pattern("model.norm").matches("model.norm.weight"));
  EXPECT_FALSE(Pattern("norm.weight").matches("model.norm.weight"));
  EXPECT_FALSE(Pattern("re:model").matches("model.norm.weight"));
  EXPECT_TRUE(Pattern("re:model|model.norm.weight").matches("model.norm.weight"));
}

TEST(Pattern, DotOfAGlobIsADot) { EXPECT_FALSE(Pattern("model.norm").matches("modelxnorm")); }

TEST(Pattern, RegularExpressionMatches) { EXPECT_EQ(matched_by(R"(re:model\.layers\.\d\..*)"), (Indices{1, 2})); }

TEST(Pattern, MalformedIsRefusedWithTheFault) {
  EXPECT_NE(fault_of("model.{a").find("\"{\" at character 7 is not closed"), std::string::npos) << fault_of("model.{a");
  EXPECT_NE(fault_of("model}.a").find("character 6 closes nothing"), std::string::npos) << fault_of("model}.a");
  EXPECT_NE(fault_of("a{b}").find("one item"), std::string::npos);
  EXPECT_NE(fault_of("a{3..1}").find("{1..3}"), std::string::npos);
  EXPECT_NE(fault_of("a{x..y}").find("no range"), std::string::npos);
  EXPECT_NE(fault_of("a{0..99999999999}").find("longer than"), std::string::npos);
  EXPECT_NE(fault_of("layers.[0-9].*").find("{0..9}"), std::string::npos);
  EXPECT_NE(fault_of("re:(").find("parenthes"), std::string::npos) << fault_of("re:(");
  for (const char* empty : {"", "re:"}) EXPECT_NE(fault_of(empty).find("empty"), std::string::npos);
}

TEST(Pattern, MatchingNothingListsNearestNames) {
  EXPECT_NE(fault_of("model.norm.wieght").find("model.norm.weight"), std::string::npos) << fault_of("model.norm.wieght");
  EXPECT_NE(fault_of("model.layer.*.mlp").find("model.layers.0.mlp.up_proj.weight"), std::string::npos) << fault_of("model.layer.*.mlp");
  EXPECT_EQ(fault_of("zzz.*").rfind("layout.freeze: \"zzz.*\" matches none of the 6 parameters", 0), 0u) << fault_of("zzz.*");
}

TEST(Pattern, EveryFaultIsListed) {
  Faults faults;
  const auto matched = apply_patterns({"nothing", "lm_head.*", "{"}, names, "layout.trainable", faults);
  EXPECT_EQ(faults.list().size(), 2u);
  EXPECT_EQ(matched[1], Indices{5});
}

TEST(Pattern, NoNamesAtAllIsAFaultToo) {
  Faults faults;
  apply_patterns({"*"}, {}, "layout.freeze", faults);
  EXPECT_EQ(faults.list().size(), 1u);
}

TEST(Pattern, EndlessBacktrackingEndsWithAnError) {
  EXPECT_THROW(Pattern("re:(a+)+(b+)+(a+)+c").matches(std::string(3000, 'a') + std::string(3000, 'b') + "d"), ConfigError);
}

}  // namespace
}  // namespace scantling
