// Blocks are read byte by byte: they are 18 to 210 bytes long and never aligned. Names: d scale, m minimum, qs low bits, qh high bits.
#include "scantling/checkpoint/gguf_quants.h"

#include <array>
#include <cstring>

#include "scantling/core/dtype.h"

namespace scantling {
namespace {

constexpr int small_block = 32;
constexpr int large_block = 256;

uint8_t byte_at(const std::byte* from, int index) { return std::to_integer<uint8_t>(from[index]); }

float half_at(const std::byte* from, int index) {
  return float16_to_float(static_cast<uint16_t>(byte_at(from, index) | byte_at(from, index + 1) << 8));
}

uint32_t word_at(const std::byte* from, int index) {
  uint32_t word = 0;
  std::memcpy(&word, from + index, sizeof word);
  return word;
}

// d | 16 bytes of nibbles: low ones are elements 0-15, high ones 16-31.
void from_q4_0(const std::byte* block, float* out) {
  const float d = half_at(block, 0);
  for (int i = 0; i < 16; ++i) {
    const int q = byte_at(block, 2 + i);
    out[i] = static_cast<float>((q & 15) - 8) * d;
    out[i + 16] = static_cast<float>((q >> 4) - 8) * d;
  }
}

void from_q4_1(const std::byte* block, float* out) {
  const float d = half_at(block, 0);
  const float m = half_at(block, 2);
  for (int i = 0; i < 16; ++i) {
    const int q = byte_at(block, 4 + i);
    out[i] = static_cast<float>(q & 15) * d + m;
    out[i + 16] = static_cast<float>(q >> 4) * d + m;
  }
}

// As Q4, with a fifth bit per element in one 32-bit word.
int five_bits(const std::byte* qs, uint32_t qh, int element) {
  const int q = byte_at(qs, element % 16);
  return (element < 16 ? q & 15 : q >> 4) | static_cast<int>(qh >> element & 1) << 4;
}

void from_q5_0(const std::byte* block, float* out) {
  const float d = half_at(block, 0);
  const uint32_t qh = word_at(block, 2);
  for (int i = 0; i < small_block; ++i) out[i] = static_cast<float>(five_bits(block + 6, qh, i) - 16) * d;
}

void from_q5_1(const std::byte* block, float* out) {
  const float d = half_at(block, 0);
  const float m = half_at(block, 2);
  const uint32_t qh = word_at(block, 4);
  for (int i = 0; i < small_block; ++i) out[i] = static_cast<float>(five_bits(block + 8, qh, i)) * d + m;
}

void from_q8_0(const std::byte* block, float* out) {
  const float d = half_at(block, 0);
  for (int i = 0; i < small_block; ++i) out[i] = static_cast<float>(static_cast<int8_t>(byte_at(block, 2 + i))) * d;
}

// Eight 6-bit scales and eight 6-bit minima in 12 bytes: the low six bits of the first four of each stand in bytes 0-3 and 4-7,
// the others have their low nibbles in bytes 8-11 and their top two bits on top of bytes 0-7.
void scale_and_minimum(const std::byte* packed, int group, int& scale, int& minimum) {
  if (group < 4) {
    scale = byte_at(packed, group) & 63;
    minimum = byte_at(packed, group + 4) & 63;
  } else {
    const int low = byte_at(packed, group + 4);
    scale = (low & 15) | byte_at(packed, group - 4) >> 6 << 4;
    minimum = low >> 4 | byte_at(packed, group) >> 6 << 4;
  }
}

// d | dmin | 12 bytes of scales | qs. Groups of 32 elements; two groups share 32 bytes, the first in the low nibbles.
// `qh` holds a fifth bit: bit g of byte i belongs to element i of group g. Null for four bits.
void from_k_blocks(const std::byte* block, const std::byte* qh, const std::byte* qs, float* out) {
  const float d = half_at(block, 0);
  const float dmin = half_at(block, 2);
  for (int group = 0; group < 8; ++group) {
    int scale = 0;
    int minimum = 0;
    scale_and_minimum(block + 4, group, scale, minimum);
    const float group_d = d * static_cast<float>(scale);
    const float group_m = dmin * static_cast<float>(minimum);
    for (int i = 0; i < 32; ++i) {
      const int pair = byte_at(qs, group / 2 * 32 + i);
      int q = group % 2 == 0 ? pair & 15 : pair >> 4;
      if (qh != nullptr) q |= (byte_at(qh, i) >> group & 1) << 4;
      out[group * 32 + i] = group_d * static_cast<float>(q) - group_m;
    }
  }
}

void from_q4_k(const std::byte* block, float* out) { from_k_blocks(block, nullptr, block + 16, out); }
void from_q5_k(const std::byte* block, float* out) { from_k_blocks(block, block + 16, block + 48, out); }

// 128 bytes of low nibbles | 64 bytes of two high bits | 16 signed scales | d. Each half of the block has 64 + 32 bytes and four
// rows of 32 elements: rows 0 and 1 are low nibbles, 2 and 3 high ones; row r has its high bits at bit 2r.
void from_q6_k(const std::byte* block, float* out) {
  const float d = half_at(block, 208);
  for (int element = 0; element < large_block; ++element) {
    const int half = element / 128;
    const int row = element % 128 / 32;
    const int column = element % 32;
    const int low = byte_at(block, half * 64 + row % 2 * 32 + column) >> (row / 2 * 4) & 15;
    const int high = byte_at(block, 128 + half * 32 + column) >> (row * 2) & 3;
    const auto scale = static_cast<int8_t>(byte_at(block, 192 + element / 16));
    out[element] = d * static_cast<float>(scale) * static_cast<float>((low | high << 4) - 32);
  }
}

template <DType type>
constexpr GgufType plain(uint32_t id, std::string_view name) {
  return {id, name, 1, type == DType::float32 ? 4 : 2,
          [](const std::byte* from, int64_t count, float* out) { convert(from, type, out, DType::float32, count); }};
}

template <void (*one_block)(const std::byte*, float*), int64_t elements, int64_t bytes>
constexpr GgufType blocks_of(uint32_t id, std::string_view name) {
  return {id, name, elements, bytes, [](const std::byte* from, int64_t blocks, float* out) {
            for (int64_t block = 0; block < blocks; ++block) one_block(from + block * bytes, out + block * elements);
          }};
}

constexpr std::array<GgufType, 34> types{
    plain<DType::float32>(0, "F32"),
    plain<DType::float16>(1, "F16"),
    blocks_of<from_q4_0, small_block, 18>(2, "Q4_0"),
    blocks_of<from_q4_1, small_block, 20>(3, "Q4_1"),
    blocks_of<from_q5_0, small_block, 22>(6, "Q5_0"),
    blocks_of<from_q5_1, small_block, 24>(7, "Q5_1"),
    blocks_of<from_q8_0, small_block, 34>(8, "Q8_0"),
    GgufType{9, "Q8_1", small_block, 40, nullptr},
    GgufType{10, "Q2_K", large_block, 84, nullptr},
    GgufType{11, "Q3_K", large_block, 110, nullptr},
    blocks_of<from_q4_k, large_block, 144>(12, "Q4_K"),
    blocks_of<from_q5_k, large_block, 176>(13, "Q5_K"),
    blocks_of<from_q6_k, large_block, 210>(14, "Q6_K"),
    GgufType{15, "Q8_K", large_block, 292, nullptr},
    GgufType{16, "IQ2_XXS", large_block, 66, nullptr},
    GgufType{17, "IQ2_XS", large_block, 74, nullptr},
    GgufType{18, "IQ3_XXS", large_block, 98, nullptr},
    GgufType{19, "IQ1_S", large_block, 50, nullptr},
    GgufType{20, "IQ4_NL", small_block, 18, nullptr},
    GgufType{21, "IQ3_S", large_block, 110, nullptr},
    GgufType{22, "IQ2_S", large_block, 82, nullptr},
    GgufType{23, "IQ4_XS", large_block, 136, nullptr},
    GgufType{24, "I8", 1, 1, nullptr},
    GgufType{25, "I16", 1, 2, nullptr},
    GgufType{26, "I32", 1, 4, nullptr},
    GgufType{27, "I64", 1, 8, nullptr},
    GgufType{28, "F64", 1, 8, nullptr},
    GgufType{29, "IQ1_M", large_block, 56, nullptr},
    plain<DType::bfloat16>(30, "BF16"),
    GgufType{34, "TQ1_0", large_block, 54, nullptr},
    GgufType{35, "TQ2_0", large_block, 66, nullptr},
    GgufType{39, "MXFP4", small_block, 17, nullptr},
    GgufType{40, "NVFP4", 64, 36, nullptr},
    GgufType{41, "Q1_0", 128, 18, nullptr},
};

}  // namespace

const GgufType* gguf_type(uint32_t id) {
  for (const auto& type : types) {
    if (type.id == id) return &type;
  }
  return nullptr;
}

std::string dequantizable_gguf_types() {
  std::string names;
  for (const auto& type : types) {
    if (type.dequantize == nullptr) continue;
    if (!names.empty()) names += ", ";
    names += type.name;
  }
  return names;
}

}  // namespace scantling
