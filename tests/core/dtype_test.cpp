// Every type has one name per convention, and conversions are checked against exhaustive or hand-computed values.
#include "scantling/core/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace scantling {
namespace {

const std::vector<DType> all_types = {DType::float32,     DType::float64, DType::bfloat16, DType::float16, DType::float8_e4m3,
                                      DType::float8_e5m2, DType::int64,   DType::int32,    DType::int16,   DType::int8,
                                      DType::uint64,      DType::uint32,  DType::uint16,   DType::uint8,   DType::boolean};

TEST(DTypeNames, ReadBackAsTheSameType) {
  for (const DType dtype : all_types) {
    EXPECT_EQ(dtype_named(name_of(dtype)), dtype) << name_of(dtype);
    EXPECT_EQ(safetensors_dtype(safetensors_name_of(dtype)), dtype) << name_of(dtype);
    EXPECT_GE(size_of(dtype), 1) << name_of(dtype);
  }
  EXPECT_EQ(dtype_named("F32"), std::nullopt);
  EXPECT_EQ(safetensors_dtype("float32"), std::nullopt);
  EXPECT_EQ(dtype_named(""), std::nullopt);
}

TEST(DTypeNames, SizesAndFamilies) {
  EXPECT_EQ(size_of(DType::float64), 8);
  EXPECT_EQ(size_of(DType::bfloat16), 2);
  EXPECT_EQ(size_of(DType::float8_e5m2), 1);
  EXPECT_TRUE(is_floating(DType::float8_e5m2));
  EXPECT_FALSE(is_floating(DType::int64));
  EXPECT_FALSE(is_floating(DType::boolean));
}

TEST(Bfloat16, EveryValueReadsBackAsItself) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = bfloat16_to_float(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(value)))) << bits;
    } else {
      ASSERT_EQ(float_to_bfloat16(value), bits);
    }
  }
}

TEST(Bfloat16, TiesGoToEven) {
  EXPECT_EQ(float_to_bfloat16(std::bit_cast<float>(0x3f808000U)), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(std::bit_cast<float>(0x3f818000U)), 0x3f82);
  EXPECT_EQ(float_to_bfloat16(std::bit_cast<float>(0x3f808001U)), 0x3f81);
  EXPECT_EQ(float_to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(std::bit_cast<float>(0x7f800001U)))));
}

TEST(Float16, EveryValueReadsBackAsItself) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = float16_to_float(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float16_to_float(float_to_float16(value)))) << bits;
    } else {
      ASSERT_EQ(float_to_float16(value), bits);
    }
  }
}

TEST(Float16, KnownValuesAndTies) {
  EXPECT_EQ(float16_to_float(0x3c00), 1.0F);
  EXPECT_EQ(float16_to_float(0x0001), 0x1p-24F);
  EXPECT_EQ(float16_to_float(0x7bff), 65504.0F);
  EXPECT_EQ(float_to_float16(65519.0F), 0x7bff);
  EXPECT_EQ(float_to_float16(65520.0F), 0x7c00);
  EXPECT_EQ(float_to_float16(0x1p-25F), 0x0000);
  EXPECT_EQ(float_to_float16(0x1.000002p-25F), 0x0001);
  EXPECT_EQ(float_to_float16(-0.0F), 0x8000);
  EXPECT_EQ(float_to_float16(1.0F + 0x1p-11F), 0x3c00);
  EXPECT_EQ(float_to_float16(1.0F + 3 * 0x1p-11F), 0x3c02);
}

TEST(Float8, KnownValues) {
  EXPECT_EQ(float8_e4m3_to_float(0x38), 1.0F);
  EXPECT_EQ(float8_e4m3_to_float(0x7e), 448.0F);
  EXPECT_EQ(float8_e4m3_to_float(0x81), -0x1p-9F);
  EXPECT_TRUE(std::isnan(float8_e4m3_to_float(0xff)));
  EXPECT_EQ(float8_e5m2_to_float(0x3c), 1.0F);
  EXPECT_EQ(float8_e5m2_to_float(0x7b), 57344.0F);
  EXPECT_EQ(float8_e5m2_to_float(0x01), 0x1p-16F);
  EXPECT_TRUE(std::isinf(float8_e5m2_to_float(0x7c)));
}

TEST(Convert, AgreesWithSingleElementsAcrossChunks) {
  std::vector<float> values(2500);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::ldexp(1.0F + static_cast<float>(i) / 1000, static_cast<int>(i % 40) - 20);
  std::vector<uint16_t> brains(values.size());
  std::vector<uint16_t> halves(values.size());
  convert(values.data(), DType::float32, brains.data(), DType::bfloat16, 2500);
  convert(values.data(), DType::float32, halves.data(), DType::float16, 2500);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(brains[i], float_to_bfloat16(values[i])) << i;
    ASSERT_EQ(halves[i], float_to_float16(values[i])) << i;
  }
}

TEST(Convert, WorksInPlaceBothWays) {
  std::vector<float> values(3000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 256);
  const auto before = values;
  convert(values.data(), DType::float32, values.data(), DType::bfloat16, 3000);
  convert(values.data(), DType::bfloat16, values.data(), DType::float32, 3000);
  EXPECT_EQ(values, before);
}

TEST(Convert, RoundsDoublesOnce) {
  const double just_above_tie = 1.0 + 0x1p-8 + 0x1p-40;  // nearest float is the tie, which would go down
  uint16_t brain = 0;
  convert(&just_above_tie, DType::float64, &brain, DType::bfloat16, 1);
  EXPECT_EQ(bfloat16_to_float(brain), 1.0F + 0x1p-7F);
  float single = 0;
  convert(&just_above_tie, DType::float64, &single, DType::float32, 1);
  EXPECT_EQ(single, 1.0F + 0x1p-8F);
}

TEST(Convert, OfNothingTouchesNothing) {
  convert(nullptr, DType::float32, nullptr, DType::bfloat16, 0);
  convert(nullptr, DType::int64, nullptr, DType::int64, 0);
}

TEST(Convert, RefusesIntegers) {
  int32_t from = 1;
  float to = 0;
  EXPECT_THROW(convert(&from, DType::int32, &to, DType::float32, 1), std::logic_error);
}

}  // namespace
}  // namespace scantling
