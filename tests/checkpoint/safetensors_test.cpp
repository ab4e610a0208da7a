// Reading safetensors: what is valid loads, what breaks a rule is refused with the file and the field, and nothing in between.
#include "scantling/checkpoint/safetensors.h"

#include <sys/stat.h>

#include <random>

#include "tests/checkpoint/test_files.h"

namespace scantling {
namespace {

using test::contains;
using test::put;
using test::raw;
using test::refusal;
using test::safetensors_bytes;

TEST(Safetensors, ForeignFilesLoadOrAreRefusedAsTheirTestsSay) {
  const auto folder = test::shared_data() / "checkpoints" / "safetensors-fixtures";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder << ": the shared data is not here";
  std::ifstream list(folder / "expected.tsv");
  std::string line;
  std::getline(list, line);
  int files = 0;
  while (std::getline(list, line)) {
    std::istringstream fields(line);
    std::string name, expected;
    fields >> name >> expected;
    const auto path = (folder / name).string();
    const auto message = refusal([&] { SafetensorsFile file(path); });
    EXPECT_TRUE(contains(message, expected == "ok" ? "no error" : path + ": ")) << name << ": " << message;
    ++files;
  }
  EXPECT_EQ(files, 19);
}

struct Malformed {
  const char* what;
  std::string bytes;
  const char* named;  // part of the message
};

std::string one(const std::string& fields) { return R"({"w":{)" + fields + "}}"; }

std::vector<Malformed> malformed() {
  const std::string eight(8, 'x');
  const std::string good = R"("dtype":"U8","shape":[4],"data_offsets":[0,4])";
  return {
      {"empty", "", "0 bytes"},
      {"7 bytes", "1234567", "7 bytes"},
      {"length 2^63", raw<uint64_t>(1ULL << 63) + eight, "header length is 9223372036854775808"},
      {"length beyond the file", raw<uint64_t>(100) + "{}", "header length is 100"},
      {"length over the limit", raw<uint64_t>(100'000'001) + "{}", "header length is 100000001"},
      {"zero length", raw<uint64_t>(0), "must begin with '{'"},
      {"array", safetensors_bytes("[]"), "must begin with '{'"},
      {"space first", safetensors_bytes(" {}"), "must begin with '{'"},
      {"cut JSON", safetensors_bytes(R"({"w":{"dtype")"), "not valid JSON"},
      {"text after the object", safetensors_bytes("{} {}"), "not valid JSON"},
      {"zero byte after the object", safetensors_bytes(std::string("{}\0x", 4)), "zero byte"},
      {"not UTF-8", safetensors_bytes("{\"\xff\":{}}"), "UTF-8"},
      {"end before begin", safetensors_bytes(one(R"("dtype":"U8","shape":[4],"data_offsets":[4,0])"), eight), "data_offsets are [4, 0]"},
      {"end past the data", safetensors_bytes(one(good), "xx"), "data_offsets end at 4"},
      {"trailing byte", safetensors_bytes(one(good), "xxxxx"), "cover 4 bytes"},
      {"hole in front", safetensors_bytes(one(R"("dtype":"U8","shape":[4],"data_offsets":[4,8])"), eight), "begin at 4"},
      {"overlap", safetensors_bytes(R"({"a":{)" + good + R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})", "xxxxxx"),
       "begin at 2"},
      {"gap", safetensors_bytes(R"({"a":{)" + good + R"(},"b":{"dtype":"U8","shape":[3],"data_offsets":[5,8]}})", eight), "begin at 5"},
      {"range against shape", safetensors_bytes(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), "xxxx"), "needs 8"},
      {"product overflow", safetensors_bytes(one(R"("dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0])")), "overflows"},
      {"byte overflow", safetensors_bytes(one(R"("dtype":"F64","shape":[4611686018427387904],"data_offsets":[0,0])")), "overflows"},
      {"number above 2^63", safetensors_bytes(one(R"("dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,0])")), "below 2^63"},
      {"number above 2^64", safetensors_bytes(one(R"("dtype":"U8","shape":[99999999999999999999],"data_offsets":[0,0])")), "\"shape\""},
      {"negative size", safetensors_bytes(one(R"("dtype":"U8","shape":[-1],"data_offsets":[0,0])")), "\"shape\" is -1"},
      {"fractional size", safetensors_bytes(one(R"("dtype":"U8","shape":[1.0],"data_offsets":[0,1])"), "x"), "\"shape\" is 1.0"},
      {"nested shape", safetensors_bytes(one(R"("dtype":"U8","shape":[[1]],"data_offsets":[0,1])"), "x"), "\"shape\" is an array"},
      {"three offsets", safetensors_bytes(one(R"("dtype":"U8","shape":[4],"data_offsets":[0,4,8])"), "xxxx"), "has 3 numbers"},
      {"no dtype", safetensors_bytes(one(R"("shape":[4],"data_offsets":[0,4])"), "xxxx"), "dtype is missing"},
      {"no shape", safetensors_bytes(one(R"("dtype":"U8","data_offsets":[0,4])"), "xxxx"), "shape is missing"},
      {"no offsets", safetensors_bytes(one(R"("dtype":"U8","shape":[4])"), "xxxx"), "data_offsets is missing"},
      {"unknown type", safetensors_bytes(one(R"("dtype":"F4","shape":[2],"data_offsets":[0,1])"), "x"), "tensor \"w\": dtype is \"F4\""},
      {"type is a number", safetensors_bytes(one(R"("dtype":4,"shape":[4],"data_offsets":[0,4])"), "xxxx"), "\"dtype\" is 4"},
      {"tensor is a number", safetensors_bytes(R"({"w":3})"), "tensor \"w\": the entry is 3"},
      {"tensor is an array", safetensors_bytes(R"({"w":[]})"), "tensor \"w\": the entry is an array"},
      {"duplicate name", safetensors_bytes(R"({"w":{)" + good + R"(},"w":{)" + good + "}}", "xxxx"), "\"w\" occurs twice"},
      {"duplicate field", safetensors_bytes(one(good + R"(,"dtype":"I8")"), "xxxx"), "\"dtype\" occurs twice"},
      {"number in metadata", safetensors_bytes(R"({"__metadata__":{"n":5}})"), "__metadata__: \"n\" is 5"},
      {"object in metadata", safetensors_bytes(R"({"__metadata__":{"n":{}}})"), "__metadata__: \"n\" is an object"},
      {"metadata is a string", safetensors_bytes(R"({"__metadata__":"n"})"), "__metadata__"},
  };
}

TEST(Safetensors, MalformedFilesAreRefusedByFileAndField) {
  const test::TemporaryFolder folder;
  for (const auto& each : malformed()) {
    const auto path = put(folder / "x.safetensors", each.bytes);
    const auto message = refusal([&] { SafetensorsFile file(path); });
    EXPECT_TRUE(contains(message, path + ": ")) << each.what << ": " << message;
    EXPECT_TRUE(contains(message, each.named)) << each.what << ": " << message;
  }
}

TEST(Safetensors, OddButValidHeadersLoad) {
  const test::TemporaryFolder folder;
  const auto load = [&](const std::string& bytes) { return SafetensorsFile(put(folder / "x.safetensors", bytes)).tensors().size(); };
  EXPECT_EQ(load(safetensors_bytes("{}")), 0U);
  EXPECT_EQ(load(safetensors_bytes("{} \r\n\t ")), 0U);
  EXPECT_EQ(load(safetensors_bytes(R"({"__metadata__":{}})")), 0U);
  EXPECT_EQ(load(safetensors_bytes(R"({"__metadata__":{"a":"b"}})")), 0U);
  EXPECT_EQ(load(safetensors_bytes(one(R"("dtype":"F32","shape":[0,4],"data_offsets":[0,0])"))), 1U);
  EXPECT_EQ(load(safetensors_bytes(one(R"("dtype":"F32","shape":[],"data_offsets":[0,4])"), "xxxx")), 1U);
  EXPECT_EQ(load(safetensors_bytes(one(R"("dtype":"U8","shape":[1],"data_offsets":[0,1],"note":{"a":[[1]]})"), "x")), 1U);
}

TEST(Safetensors, TensorsAreOrderedByPlaceAndMetadataIsKept) {
  const test::TemporaryFolder folder;
  const SafetensorsFile file(
      put(folder / "x", safetensors_bytes(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},)"
                                          R"("a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
                                          "abc")));
  ASSERT_EQ(file.tensors().size(), 2U);
  EXPECT_EQ(file.tensors()[0].name, "a");
  EXPECT_EQ(file.tensors()[1].name, "b");
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(std::memcmp(file.data(file.at("b")), "bc", 2), 0);
  EXPECT_EQ(file.find("c"), nullptr);
  EXPECT_TRUE(contains(refusal([&] { file.at("bb"); }), "no tensor \"bb\""));
}

TEST(Safetensors, EveryTypeReadsAsWhatItIs) {
  const test::TemporaryFolder folder;
  const struct {
    const char* dtype;
    std::string bytes;
    float value;
  } floats[] = {
      {"F32", raw(1.0F), 1.0F},  {"F64", raw(1.5), 1.5F},     {"BF16", "\x80\x3f", 1.0F}, {"F16", std::string("\x00\x3c", 2), 1.0F},
      {"F8_E4M3", "\x38", 1.0F}, {"F8_E4M3", "\x7e", 448.0F}, {"F8_E5M2", "\x3c", 1.0F}};
  for (const auto& each : floats) {
    const auto header =
        one(std::string(R"("dtype":")") + each.dtype + R"(","shape":[1],"data_offsets":[0,)" + std::to_string(each.bytes.size()) + "]");
    const SafetensorsFile file(put(folder / "x", safetensors_bytes(header, each.bytes)));
    float value = 0;
    file.read("w", 0, 1, &value, DType::float32);
    EXPECT_EQ(value, each.value) << each.dtype;
  }
}

TEST(Safetensors, WholeNumbersAreExactAndNeverReinterpreted) {
  const test::TemporaryFolder folder;
  const SafetensorsFile file(
      put(folder / "x",
          safetensors_bytes(R"({"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"u":{"dtype":"U8","shape":[1],"data_offsets":[8,9]},)"
                            R"("b":{"dtype":"BOOL","shape":[1],"data_offsets":[9,10]}})",
                            raw<int64_t>(-7) + "\xff\x01")));
  int64_t whole = 0;
  uint8_t byte = 0;
  bool flag = false;
  file.read("i", 0, 1, &whole, DType::int64);
  file.read("u", 0, 1, &byte, DType::uint8);
  file.read("b", 0, 1, &flag, DType::boolean);
  EXPECT_EQ(whole, -7);
  EXPECT_EQ(byte, 255);
  EXPECT_TRUE(flag);
  float value = 0;
  EXPECT_TRUE(contains(refusal([&] { file.read("i", 0, 1, &value, DType::float32); }), "tensor \"i\" is int64, float32 was asked for"));
}

TEST(Safetensors, WhatIsNoRegularFileIsRefused) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(contains(refusal([&] { SafetensorsFile file(folder / "missing"); }), "cannot be opened"));
  EXPECT_TRUE(contains(refusal([&] { SafetensorsFile file(folder.path().string()); }), "not a regular file"));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(contains(refusal([&] { SafetensorsFile file(folder / "pipe"); }), "not a regular file"));
}

// Whatever happens to a valid file, it loads or is refused with our error; memory checkers see the rest.
TEST(Safetensors, DamagedHeadersNeverDoMoreThanThrow) {
  const test::TemporaryFolder folder;
  const std::string good = safetensors_bytes(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                                             R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[8,14]}})",
                                             std::string(14, 'x'));
  const auto try_one = [&](const std::string& bytes) {
    const auto path = put(folder / "x", bytes);
    return refusal([&] {
      const SafetensorsFile file(path);
      std::vector<float> values(16);
      for (const auto& tensor : file.tensors()) {
        if (is_floating(tensor.dtype)) file.read(tensor.name, 0, tensor.elements(), values.data(), DType::float32);
      }
    });
  };
  for (size_t length = 0; length < good.size(); ++length) EXPECT_NE(try_one(good.substr(0, length)), "no error") << length;
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    auto bytes = good;
    for (int flips = 0; flips <= round % 3; ++flips) bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    try_one(bytes);
  }
}

}  // namespace
}  // namespace scantling
