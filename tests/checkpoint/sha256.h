// SHA-256 (FIPS 180-4), for comparing weights with published checksums. Small, not fast.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace scantling::test {

class Sha256 {
 public:
  void add(const void* data, size_t length) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    length_ += length;
    for (; filled_ > 0 && length > 0; --length) add_byte(*bytes++);
    for (; length >= block_.size(); length -= block_.size(), bytes += block_.size()) mix(bytes);
    for (; length > 0; --length) add_byte(*bytes++);
  }

  std::string hex() {
    const uint64_t bits = length_ * 8;
    add_byte(0x80);
    while (filled_ != 56) add_byte(0);
    for (int shift = 56; shift >= 0; shift -= 8) add_byte(static_cast<uint8_t>(bits >> shift));
    std::string text;
    for (const uint32_t word : state_) {
      for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
    }
    return text;
  }

 private:
  void add_byte(uint8_t byte) {
    block_[filled_++] = byte;
    if (filled_ == block_.size()) mix(block_.data());
    filled_ %= block_.size();
  }

  // The round constants: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  static const std::array<uint32_t, 64>& constants() {
    static const auto table = [] {
      std::array<uint32_t, 64> words{};
      size_t count = 0;
      for (uint64_t prime = 2; count < words.size(); ++prime) {
        bool divisible = false;
        for (uint64_t factor = 2; factor * factor <= prime; ++factor) divisible = divisible || prime % factor == 0;
        if (divisible) continue;
        using Wide = unsigned __int128;
        uint64_t root = 0;  // the largest whole number with root^3 <= prime * 2^96
        for (int bit = 35; bit >= 0; --bit) {
          const uint64_t next = root | uint64_t{1} << bit;
          if (Wide{next} * next * next <= Wide{prime} << 96) root = next;
        }
        words[count++] = static_cast<uint32_t>(root);
      }
      return words;
    }();
    return table;
  }

  void mix(const uint8_t* bytes) {
    std::array<uint32_t, 64> w{};
    for (size_t i = 0; i < 16; ++i)
      w[i] = static_cast<uint32_t>(bytes[4 * i] << 24 | bytes[4 * i + 1] << 16 | bytes[4 * i + 2] << 8 | bytes[4 * i + 3]);
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
      const uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    auto s = state_;
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t sum = s[7] + (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
                           constants()[i] + w[i];
      const uint32_t other =
          (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      s = {sum + other, s[0], s[1], s[2], s[3] + sum, s[4], s[5], s[6]};
    }
    for (size_t i = 0; i < 8; ++i) state_[i] += s[i];
  }

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block_{};
  size_t filled_ = 0;
  uint64_t length_ = 0;
};

inline std::string sha256(const std::string& bytes) {
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.hex();
}

}  // namespace scantling::test
