// GPT-2's alphabet: each of the 256 bytes is written as one printable character, so that a vocabulary of byte strings is JSON text.
// Printable Latin-1 stands for itself; the other 68 bytes take the characters from U+0100 on, in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace scantling {

std::string to_byte_level(std::string_view bytes);                  // "a b" -> "aĠb"
std::optional<std::string> from_byte_level(std::string_view text);  // none if a character is not of the alphabet
std::optional<uint8_t> byte_of_character(char32_t c);               // none if it is not of the alphabet

}  // namespace scantling
