// Reading GGUF: all kinds of values, and no trust in any number of the file.
#include "scantling/checkpoint/gguf.h"

#include <random>

#include "tests/checkpoint/gguf_builder.h"

namespace scantling {
namespace {

using test::contains;
using test::GgufBuilder;
using test::put;
using test::raw;
using test::refusal;

std::string refused(const std::string& bytes) {
  const test::TemporaryFolder folder;
  return refusal([&] { GgufFile file(put(folder / "x.gguf", bytes)); });
}

TEST(Gguf, EveryKindOfValueReads) {
  const test::TemporaryFolder folder;
  GgufBuilder builder;
  builder.key("u8", 0, raw(uint8_t{200}))
      .key("i8", 1, raw(int8_t{-5}))
      .key("u16", 2, raw(uint16_t{60000}))
      .key("i16", 3, raw(int16_t{-300}));
  builder.key("u32", 4, raw(4000000000U)).key("i32", 5, raw(-70000)).key("f32", 6, raw(1.5F)).flag("bool", true).string("s", "text");
  builder.key("u64", 10, raw(uint64_t{1} << 40)).key("i64", 11, raw(-(int64_t{1} << 40))).key("f64", 12, raw(0.1));
  builder.strings("words", {"a", "", "bc"}).integers("list", {3, -4}).key("none", 9, raw(uint32_t{6}) + raw(uint64_t{0}));
  const GgufFile file(put(folder / "x", builder.bytes()));
  const std::pair<const char*, int64_t> whole[] = {{"u8", 200},
                                                   {"i8", -5},
                                                   {"u16", 60000},
                                                   {"i16", -300},
                                                   {"u32", 4000000000},
                                                   {"i32", -70000},
                                                   {"u64", int64_t{1} << 40},
                                                   {"i64", -(int64_t{1} << 40)}};
  for (const auto& [key, value] : whole) EXPECT_EQ(file.at(key).as_integer(), value) << key;
  EXPECT_EQ(file.at("f32").as_number(), 1.5);
  EXPECT_EQ(file.at("f64").as_number(), 0.1);
  EXPECT_TRUE(file.at("bool").as_bool());
  EXPECT_EQ(file.at("s").as_string(), "text");
  EXPECT_EQ(file.at("words").as_strings(), (std::vector<std::string_view>{"a", "", "bc"}));
  EXPECT_EQ(file.at("list").as_integers(), (std::vector<int64_t>{3, -4}));
  EXPECT_TRUE(file.at("none").as_numbers().empty());
  EXPECT_EQ(file.find("gone"), nullptr);
}

TEST(Gguf, WrongKindsAreNamed) {
  const test::TemporaryFolder folder;
  const GgufFile file(
      put(folder / "x", GgufBuilder().string("s", "text").integers("list", {1}).key("huge", 10, raw(~uint64_t{0})).bytes()));
  EXPECT_TRUE(contains(refusal([&] { file.at("s").as_integer(); }), "\"s\" is string"));
  EXPECT_TRUE(contains(refusal([&] { file.at("list").as_integer(); }), "\"list\" is an array of int32"));
  EXPECT_TRUE(contains(refusal([&] { file.at("list").as_strings(); }), "array of strings"));
  EXPECT_TRUE(contains(refusal([&] { file.at("huge").as_integer(); }), "below 2^63"));
  EXPECT_TRUE(contains(refusal([&] { file.at("gone"); }), "no key gone"));
}

TEST(Gguf, TensorsHaveTheirShapeTurnedAroundAndRowsRead) {
  const test::TemporaryFolder folder;
  GgufBuilder builder;
  builder.version = 2;
  builder.floats("w", {2, 3}, {0, 1, 2, 3, 4, 5}).floats("empty", {0}, {}).floats("b", {1}, {7});
  const GgufFile file(put(folder / "x", builder.bytes()));
  const GgufTensor& w = *file.tensor("w");
  EXPECT_EQ(w.shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(w.elements(), 6);
  std::vector<float> values(4);
  dequantize_rows(file.path(), w, 1, 2, values.data());
  EXPECT_EQ(values, (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(file.tensor("empty")->elements(), 0);
  EXPECT_EQ(file.tensor("gone"), nullptr);
}

TEST(Gguf, AlignmentOfTheFileIsUsed) {
  const test::TemporaryFolder folder;
  GgufBuilder builder;
  builder.alignment = 64;
  builder.number("general.alignment", 64U).floats("a", {1}, {1}).floats("b", {1}, {2});
  const GgufFile file(put(folder / "x", builder.bytes()));
  float value = 0;
  dequantize_rows(file.path(), *file.tensor("b"), 0, 1, &value);
  EXPECT_EQ(value, 2);
}

TEST(Gguf, TypesThatCannotBeReadAreNamed) {
  const test::TemporaryFolder folder;
  const GgufFile file(put(folder / "x", GgufBuilder().tensor("w", {256}, 10, std::string(84, 'x')).bytes()));
  std::vector<float> values(256);
  const auto message = refusal([&] { dequantize_rows(file.path(), *file.tensor("w"), 0, 1, values.data()); });
  EXPECT_TRUE(contains(message, "tensor \"w\" has type Q2_K")) << message;
}

TEST(Gguf, HostileFilesAreRefusedByField) {
  const auto tensor = [](const std::vector<uint64_t>& dimensions, uint32_t type, uint64_t offset, size_t bytes) {
    return GgufBuilder().tensor_at("w", dimensions, type, offset, std::string(bytes, 'x')).bytes();
  };
  const auto many = [](int64_t keys, int64_t tensors) {
    GgufBuilder builder;
    builder.extra_keys = keys;
    builder.extra_tensors = tensors;
    return builder.bytes();
  };
  const auto versioned = [](uint32_t version) {
    GgufBuilder builder;
    builder.version = version;
    return builder.bytes();
  };
  const std::string array = raw(uint32_t{8});
  const std::pair<std::string, std::string> cases[] = {
      {"", "the magic number"},
      {"GGML" + std::string(20, '\0'), "does not begin with"},
      {versioned(1), "version 1"},
      {versioned(4), "version 4"},
      {versioned(0x03000000), "big-endian"},
      {many(1, 0), "ends inside"},
      {many(int64_t{1} << 40, 0), "ends inside"},
      {many(0, int64_t{1} << 40), "ends inside"},
      {many(INT64_MIN, 0), "the key count is 9223372036854775808"},
      {GgufBuilder().key("s", 8, raw(uint64_t{1} << 40)).bytes(), "\"s\": ends inside a string"},
      {GgufBuilder().key("s", 8, raw(~uint64_t{0})).bytes(), "must be below 2^63"},
      {GgufBuilder().key("a", 9, raw(uint32_t{12}) + raw(uint64_t{1} << 61)).bytes(), "\"a\": has 2305843009213693952 elements"},
      {GgufBuilder().key("a", 9, raw(uint32_t{4}) + raw(uint64_t{1} << 40)).bytes(), "ends inside a value"},
      {GgufBuilder().key("a", 9, array + raw(uint64_t{1} << 60)).bytes(), "\"a\": ends inside"},
      {GgufBuilder().key("a", 9, raw(uint32_t{9}) + raw(uint64_t{1})).bytes(), "array of arrays"},
      {GgufBuilder().key("k", 13, raw(1)).bytes(), "kind number 13"},
      {GgufBuilder().number("k", 1U).number("k", 2U).bytes(), "the key \"k\" twice"},
      {GgufBuilder().number("general.alignment", 0U).bytes(), "general.alignment is 0"},
      {GgufBuilder().number("general.alignment", 24U).bytes(), "general.alignment is 24"},
      {tensor({1, 1, 1, 1, 1}, 0, 0, 4), "5 dimensions"},
      {tensor({1}, 4, 0, 4), "tensor \"w\": has type number 4"},
      {tensor({1}, 0, 16, 20), "offset is 16"},
      {tensor({1}, 0, 64, 4), "tensor \"w\": its 4 bytes at 64"},
      {tensor({3}, 0, 0, 8), "its 12 bytes at 0"},
      {tensor({33}, 8, 0, 34), "rows of 33 elements. Type Q8_0 needs a multiple of 32"},
      {tensor({uint64_t{1} << 32, uint64_t{1} << 32}, 0, 0, 4), "overflows"},
      {tensor({uint64_t{1} << 62}, 28, 0, 4), "overflows"},
      {tensor({~uint64_t{0}}, 0, 0, 4), "a dimension is"},
      {GgufBuilder().floats("w", {1}, {1}).floats("w", {1}, {1}).bytes(), "the tensor \"w\" twice"},
      {GgufBuilder().tensor_at("a", {16}, 0, 0, std::string(64, 'x')).tensor_at("b", {1}, 0, 32, "").bytes(),
       "tensor \"b\": overlaps \"a\""},
  };
  for (const auto& [bytes, named] : cases) {
    const auto message = refused(bytes);
    EXPECT_TRUE(contains(message, named)) << named << ": " << message;
  }
}

TEST(Gguf, DamagedFilesNeverDoMoreThanThrow) {
  const test::TemporaryFolder folder;
  const std::string good = GgufBuilder()
                               .string("s", "text")
                               .strings("words", {"a", "b"})
                               .integers("list", {1, 2})
                               .tensor("w", {32, 2}, 8, std::string(68, 'x'))
                               .floats("v", {3}, {1, 2, 3})
                               .bytes();
  const auto try_one = [&](const std::string& bytes) {
    const auto path = put(folder / "x", bytes);
    return refusal([&] {
      const GgufFile file(path);
      for (const auto& [key, value] : file.metadata()) {
        if (value.is_array && value.kind == GgufKind::string) value.as_strings();
      }
      std::vector<float> values(256);
      for (const auto& tensor : file.tensors()) {
        const int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
        if (tensor.type->dequantize != nullptr && row > 0 && row <= 256)
          dequantize_rows(path, tensor, 0, std::min<int64_t>(1, tensor.elements() / row), values.data());
      }
    });
  };
  EXPECT_EQ(try_one(good), "no error");
  for (size_t length = 0; length < good.size(); length += 3) EXPECT_NE(try_one(good.substr(0, length)), "no error") << length;
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    auto bytes = good;
    for (int flips = 0; flips <= round % 3; ++flips) bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    try_one(bytes);
  }
}

}  // namespace
}  // namespace scantling
