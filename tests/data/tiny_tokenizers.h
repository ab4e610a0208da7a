// Small tokenizers made up for tests: a byte-level one, and a SentencePiece-like one as tokenizer.json and as tokenizer.model. Their
// ordinary tokens come after the special ones and the 256 bytes, in a fixed order, so tests can name ids by their pieces.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data_files.h"
#include "scantling/data/tokenizer.h"
#include "scantling/data/tokenizer_byte_level.h"

namespace scantling {

inline nlohmann::json special_entry(const std::string& content, int id) {
  return {{"id", id}, {"content", content}, {"special", true}, {"normalized", false}};
}

// "<s>" 0, "</s>" 1, bytes from 2 on, then merges up to "hello" and "Ġhello".
inline nlohmann::json byte_level_document() {
  nlohmann::json vocabulary = {{"<s>", 0}, {"</s>", 1}};
  const auto add = [&](const std::string& token) { vocabulary.emplace(token, vocabulary.size()); };
  for (int byte = 0; byte < 256; ++byte) add(to_byte_level(std::string(1, static_cast<char>(byte))));
  for (const char* token : {"he", "ll", "hell", "hello", "Ġhello"}) add(token);
  return {{"added_tokens", {special_entry("<s>", 0), special_entry("</s>", 1)}},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", {"h e", "l l", "he ll", "hell o", "Ġ hello"}}}}};
}

struct Piece {
  std::string text;
  int type;  // as in SentencePiece: 1 normal, 2 unknown, 3 control, 6 byte
};

// "<unk>" 0, "<s>" 1, "</s>" 2, bytes, then single characters and the parts of "▁This". Earlier pieces merge first.
inline std::vector<Piece> sentencepiece_pieces() {
  std::vector<Piece> pieces = {{"<unk>", 2}, {"<s>", 3}, {"</s>", 3}};
  for (int byte = 0; byte < 256; ++byte) pieces.push_back({fmt::format("<0x{:02X}>", byte), 6});
  for (const char* text : {"is", "Th", "This", "▁This", "▁▁"}) pieces.push_back({text, 1});
  for (const char* text : {"▁", "T", "h", "i", "s", "a", "b", "f", "o", "l", "v", "e", "y", "u", "I", "."}) pieces.push_back({text, 1});
  return pieces;
}

inline nlohmann::json sentencepiece_document() {
  using nlohmann::json;
  json vocabulary = json::object();
  for (const Piece& piece : sentencepiece_pieces()) vocabulary.emplace(piece.text, vocabulary.size());
  const json steps = {{{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}},
                      {{"type", "ByteFallback"}},
                      {{"type", "Fuse"}},
                      {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}};
  return {{"added_tokens", {special_entry("<unk>", 0), special_entry("<s>", 1), special_entry("</s>", 2)}},
          {"normalizer",
           {{"type", "Sequence"},
            {"normalizers",
             {{{"type", "Prepend"}, {"prepend", "▁"}}, {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}}}}}},
          {"decoder", {{"type", "Sequence"}, {"decoders", steps}}},
          {"model",
           {{"type", "BPE"},
            {"vocab", vocabulary},
            {"byte_fallback", true},
            {"unk_token", "<unk>"},
            {"fuse_unk", true},
            {"merges", {"i s", "T h", "Th is", "▁ This", "▁ ▁"}}}}};
}

// A protocol buffer of SentencePiece's ModelProto with the same pieces: BPE, byte fallback, word mark first, extra spaces kept.
inline std::string sentencepiece_model() {
  const auto varint = [](uint64_t value) {
    std::string out;
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
    out.push_back(static_cast<char>(value));
    return out;
  };
  const auto number = [&](int field, uint64_t value) { return varint(field << 3) + varint(value); };
  const auto bytes = [&](int field, const std::string& value) { return varint(field << 3 | 2) + varint(value.size()) + value; };
  std::string model;
  float score = 0;
  for (const Piece& piece : sentencepiece_pieces()) {
    std::string score_bytes(sizeof(score), '\0');
    std::memcpy(score_bytes.data(), &score, sizeof(score));
    model += bytes(1, bytes(1, piece.text) + varint(2 << 3 | 5) + score_bytes + number(3, piece.type));
    score -= 1;
  }
  const std::string trainer = number(3, 2) + number(35, 1);
  const std::string normalizer = bytes(1, "identity") + number(3, 1) + number(4, 0) + number(5, 1);
  return model + bytes(2, trainer) + bytes(3, normalizer);
}

// A tokenizer loaded from a folder that holds these files only.
inline std::unique_ptr<Tokenizer> tokenizer_from(const std::vector<std::pair<std::string, std::string>>& files) {
  const TestFolder folder;
  for (const auto& [name, bytes] : files) folder.write(name, bytes);
  return load_tokenizer(folder.path(""));
}

inline std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) pieces.push_back(tokenizer.piece(id));
  return pieces;
}

}  // namespace scantling
