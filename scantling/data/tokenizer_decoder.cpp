// Each kind of decoder is a step that changes a list of token texts; the run's text is what they are joined to in the end.
#include "scantling/data/tokenizer_decoder.h"

#include <fmt/format.h>

#include <charconv>

#include "scantling/data/pre_tokenizer.h"
#include "scantling/data/tokenizer_byte_level.h"
#include "scantling/data/tokenizer_normalizer.h"

namespace scantling {
namespace {

void decode_byte_level(std::vector<std::string>& tokens, bool) {
  for (std::string& token : tokens) {
    if (auto bytes = from_byte_level(token)) token = std::move(*bytes);
  }
}

// "<0x0A>" is the byte 10.
void decode_byte_tokens(std::vector<std::string>& tokens, bool) {
  for (std::string& token : tokens) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') continue;
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
    if (error == std::errc() && end == token.data() + 5) token = std::string(1, static_cast<char>(byte));
  }
}

void fuse(std::vector<std::string>& tokens, bool) {
  std::string all;
  for (const std::string& token : tokens) all += token;
  tokens = {std::move(all)};
}

void strip(std::string& token, std::string_view what, int64_t start, int64_t stop) {
  for (; start > 0 && token.starts_with(what); --start) token.erase(0, what.size());
  for (; stop > 0 && token.ends_with(what); --stop) token.erase(token.size() - what.size());
}

}  // namespace

Decoder::Decoder(const std::optional<JsonField>& field, bool byte_level, bool prefix_everywhere) : prefix_everywhere_(prefix_everywhere) {
  if (field) {
    add(*field);
  } else if (byte_level) {
    steps_.push_back(decode_byte_level);
  }
}

void Decoder::add(const JsonField& field) {
  const std::string type = field.at("type").text();
  if (type == "Sequence") {
    for (const JsonField& item : field.at("decoders").items()) add(item);
  } else if (type == "ByteLevel") {
    steps_.push_back(decode_byte_level);
  } else if (type == "ByteFallback") {
    steps_.push_back(decode_byte_tokens);
  } else if (type == "Fuse") {
    steps_.push_back(fuse);
  } else if (type == "Replace") {
    steps_.push_back([replace = read_replacement(field)](std::vector<std::string>& tokens, bool) {
      for (std::string& token : tokens) replace(token);
    });
  } else if (type == "Strip") {
    const std::string what = field.at("content").text();
    if (what.empty()) field.fail("has an empty \"content\"", "There must be something to strip.");
    steps_.push_back(
        [what, start = field.at("start").integer(), stop = field.at("stop").integer()](std::vector<std::string>& tokens, bool prefixed) {
          for (std::string& token : tokens) strip(token, what, prefixed ? start : 0, stop);
        });
  } else if (type == "Metaspace") {
    const bool has_prefix = read_prepend_scheme(field) != "never";
    steps_.push_back([mark = field.at("replacement").text(), has_prefix](std::vector<std::string>& tokens, bool prefixed) {
      if (has_prefix && prefixed && !tokens.empty()) strip(tokens[0], mark, 1, 0);
      for (std::string& token : tokens) replace_all(token, mark, " ");
    });
  } else {
    field.fail(fmt::format("has the type \"{}\"", type),
               "Supported are Sequence, ByteLevel, ByteFallback, Fuse, Replace, Strip and Metaspace. Use a model with such a tokenizer.");
  }
}

std::string Decoder::decode(std::vector<std::string> tokens, bool at_start) const {
  for (const Step& step : steps_) step(tokens, prefix_everywhere_ || at_start);
  fuse(tokens, true);
  return std::move(tokens[0]);
}

}  // namespace scantling
