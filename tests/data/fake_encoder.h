// A tokenizer of bytes for tests: byte b is the id b; start 256, end 257; "<|" and "|>" write chat marks, each a token of its own.
#pragma once

#include <string>
#include <vector>

#include "scantling/data/dataset.h"

namespace scantling {

constexpr int32_t fake_start = 256;
constexpr int32_t fake_end = 257;
constexpr int32_t fake_vocabulary = 260;

inline std::vector<int32_t> fake_ids(std::string_view text) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool mark = text.substr(i, 2) == "<|" || text.substr(i, 2) == "|>";
    ids.push_back(mark ? (text[i] == '<' ? 258 : 259) : static_cast<unsigned char>(text[i]));
    if (mark) ++i;
  }
  return ids;
}

// "<|user:hi|>" a turn; an answer's segment is its text with the closing mark.
inline std::vector<ChatSegment> fake_render(const std::vector<ChatMessage>& turns) {
  std::vector<ChatSegment> segments;
  for (const auto& turn : turns) {
    const bool answer = turn.role == "assistant";
    segments.push_back({"<|" + turn.role + ":", false});
    segments.push_back({turn.content + "|>", answer});
  }
  return segments;
}

inline TextEncoder fake_encoder(bool start = false, bool end = true, bool chat = false) {
  TextEncoder encoder;
  encoder.encode = [start](std::string_view text, bool wanted) {
    auto ids = fake_ids(text);
    if (start && wanted) ids.insert(ids.begin(), fake_start);
    return ids;
  };
  if (end) encoder.end_id = fake_end;
  if (chat) encoder.render = fake_render;
  return encoder;
}

inline DatasetSource fake_source(const std::string& path, DataFormat format, const TextEncoder& encoder = fake_encoder()) {
  DatasetSource source;
  source.path = path;
  source.options.format = format;
  source.vocab_size = fake_vocabulary;
  source.encoder = [encoder] { return encoder; };
  return source;
}

inline std::vector<int32_t> ids_of(const RowView& row) { return {row.ids.begin(), row.ids.end()}; }
inline std::vector<int32_t> labels_of(const RowView& row) { return {row.labels.begin(), row.labels.end()}; }

// Ids as text, special tokens as ^ (start) $ (end) < > (marks) and ignored labels as _.
inline std::string shown(std::span<const int32_t> ids) {
  std::string text;
  for (const int32_t id : ids) text += id == -100 ? '_' : id < 256 ? static_cast<char>(id) : "^$<>"[id - 256];
  return text;
}

}  // namespace scantling
