// One table made at first use, in both directions.
#include "scantling/data/tokenizer_byte_level.h"

#include <array>

#include "scantling/data/tokenizer_unicode.h"

namespace scantling {
namespace {

bool stands_for_itself(int byte) { return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD); }

struct Alphabet {
  std::array<std::string, 256> characters;
  std::array<int, 0x144> bytes;  // by character; -1: none

  Alphabet() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const char32_t c = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
      append_utf8(characters[byte], c);
      bytes[c] = byte;
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet table;
  return table;
}

}  // namespace

std::string to_byte_level(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes) out += alphabet().characters[static_cast<unsigned char>(byte)];
  return out;
}

std::optional<uint8_t> byte_of_character(char32_t c) {
  if (c >= alphabet().bytes.size() || alphabet().bytes[c] < 0) return std::nullopt;
  return static_cast<uint8_t>(alphabet().bytes[c]);
}

std::optional<std::string> from_byte_level(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); at += utf8_length(static_cast<unsigned char>(text[at]))) {
    const auto byte = byte_of_character(utf8_at(text, at));
    if (!byte) return std::nullopt;
    out.push_back(static_cast<char>(*byte));
  }
  return out;
}

}  // namespace scantling
