// One mean over all label tokens, however rows are dealt out, and what happens when there are none.
#include <gtest/gtest.h>

#include "tests/support/training.h"

namespace scantling {
namespace {

using test::Bench;
using test::Flags;
using test::mesh;
using test::operator+;

const Flags one_step{"--train.max_steps=1", "--train.optim=sgd", "--train.learning_rate=1", "--train.max_grad_norm=0"};

Flags rows(int each, int accumulation) {
  return {"--train.per_device_train_batch_size=" + std::to_string(each),
          "--train.gradient_accumulation_steps=" + std::to_string(accumulation)};
}

// Documents of 2, 3, 5 and 9 tokens have 1, 2, 4 and 8 label tokens: a mean of means would weigh the short ones too much.
TEST(Loss, IsTheTokensMeanForEveryMicroBatchAndMesh) {
  const Bench bench(test::tiny_llama(), test::documents_of({2, 3, 5, 9}));
  const auto expected = bench.train(one_step + rows(4, 1));
  const std::vector<Flags> others{rows(2, 2), rows(1, 4), mesh(1, 2) + rows(2, 1), mesh(2, 1) + rows(1, 2), mesh(1, 4) + rows(1, 1)};
  for (const auto& other : others) {
    const auto actual = bench.train(one_step + other);
    EXPECT_NEAR(actual.losses[0], expected.losses[0], 1e-6 * expected.losses[0]) << other[0] << " " << other[1];
    for (const auto& [name, values] : expected.weights)
      for (size_t i = 0; i < values.size(); i++)
        ASSERT_NEAR(actual.weights.at(name)[i], values[i], 1e-6) << name << " " << i << " " << other[0];
  }
}

TEST(Loss, EvaluationIsTheTokensMeanOnEveryMesh) {
  const Bench bench(test::tiny_llama(), test::documents_of({2, 3, 5, 9, 4, 16, 7, 2, 11, 6}));
  const auto expected = bench.evaluate({});
  EXPECT_EQ(expected.tokens, 55);
  EXPECT_NEAR(expected.loss, std::log(256), 1.0);
  for (const auto& layout : {mesh(2, 1), mesh(1, 4), mesh(2, 2, {"--train.per_device_eval_batch_size=3"})}) {
    const auto actual = bench.evaluate(layout);
    EXPECT_NEAR(actual.loss, expected.loss, 1e-6 * expected.loss);
    EXPECT_EQ(actual.tokens, 55);
    ASSERT_EQ(actual.rows.size(), 10u);
    for (size_t r = 0; r < 10; r++) EXPECT_NEAR(actual.rows[r].loss, expected.rows[r].loss, 1e-5) << "row " << r;
  }
}

// Eight masked prompt tokens and four answer tokens, cut to eight: no label is left.
std::string cut_row() {
  return R"({"input_ids": [1,2,3,4,5,6,7,8,9,10,11,12], "labels": [-100,-100,-100,-100,-100,-100,-100,-100,9,10,11,12]})"
         "\n";
}

TEST(Loss, AWindowWithoutLabelsTakesNoStep) {
  const Bench bench;
  const Flags data{"--data.train=" + bench.write("cut.jsonl", cut_row() + cut_row()), "--data.max_length=8", "--train.max_steps=2"};
  const auto before = bench.train({"--train.max_steps=1", "--train.learning_rate=0", "--train.optim=sgd"}).weights;
  for (const auto& layout : {mesh(1, 1), mesh(2, 1), mesh(1, 2)}) {
    const auto run = bench.train(data + layout);
    EXPECT_EQ(test::first_difference(run.weights, before), "");
    EXPECT_TRUE(std::isnan(run.losses.at(0))) << run.losses[0];
  }
}

TEST(Loss, ARowWithoutLabelsDoesNotDiluteTheOthers) {
  const std::string good = R"({"input_ids": [9,8,7,6,5], "labels": [-100,8,7,6,5]})"
                           "\n";
  const Bench bench;
  const auto train = [&](const std::string& text, const Flags& more) {
    return bench.train(one_step + Flags{"--data.train=" + bench.write("rows.jsonl", text), "--data.max_length=8"} + more);
  };
  const auto alone = train(good, {});
  for (const auto& layout : {rows(2, 1), rows(1, 2), mesh(1, 2), mesh(2, 1)}) {
    const auto both = train(cut_row() + good, layout);
    EXPECT_NEAR(both.losses[0], alone.losses[0], 1e-6 * alone.losses[0]);
    for (const auto& [name, values] : alone.weights)
      for (size_t i = 0; i < values.size(); i++) ASSERT_NEAR(both.weights.at(name)[i], values[i], 1e-6) << name << " " << i;
  }
}

// The end token is also what rows are padded with: its labels count.
TEST(Loss, APaddingIdThatEndsADocumentIsALabel) {
  const Bench bench(test::tiny_llama(), {{5, 6, 0}, {7, 0}});
  EXPECT_EQ(bench.evaluate({"--train.per_device_eval_batch_size=2"}).tokens, 3);
}

TEST(Loss, PaddingChangesNothing) {
  const Bench bench(test::tiny_llama(), {{5, 6, 2, 9, 30, 31, 4}, {7, 2}});
  const auto alone = bench.evaluate({"--train.per_device_eval_batch_size=1"}),
             padded = bench.evaluate({"--train.per_device_eval_batch_size=2"});
  for (size_t r = 0; r < 2; r++) EXPECT_NEAR(padded.rows[r].loss, alone.rows[r].loss, 1e-5);
}

TEST(Loss, FewerRowsThanRanksStillMakesEqualSteps) {
  const Bench bench(test::tiny_llama(), test::documents_of({6, 9, 4}));
  const auto run = bench.train(mesh(1, 7, {"--train.max_steps=0", "--train.num_train_epochs=2"}));
  EXPECT_EQ(run.losses.size(), 2u);
  EXPECT_NEAR(run.losses[0], bench.train(rows(3, 1) + Flags{"--train.max_steps=1"}).losses[0], 1e-5);
}

TEST(Loss, AnOddRowAtTheEndIsAStepOfItsOwn) {
  const Bench bench(test::tiny_llama(), test::documents_of(std::vector<int64_t>(9, 6)));
  const Flags epoch{"--train.max_steps=0", "--train.num_train_epochs=1"};
  EXPECT_EQ(bench.train(mesh(1, 2) + epoch).losses.size(), 5u);
  EXPECT_EQ(bench.train(mesh(1, 2) + epoch + Flags{"--data.drop_last=true"}).losses.size(), 4u);
}

TEST(Loss, NoRowsAreRefused) {
  const Bench bench;
  EXPECT_THROW(bench.train({"--data.train=" + bench.write("none.jsonl", "")}), DataError);
}

}  // namespace
}  // namespace scantling
