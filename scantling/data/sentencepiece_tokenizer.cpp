// Two processors of the same model: one as it is, one that puts no word mark first, for what does not begin a stretch of text. Decoding is
// done here from the pieces, since the library replaces bytes that are not whole characters.
#include "scantling/data/sentencepiece_tokenizer.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include "scantling/core/error.h"
#include "scantling/data/tokenizer_decoder.h"

namespace scantling {
namespace {

using sentencepiece::SentencePieceProcessor;

constexpr std::string_view word_mark = "\xE2\x96\x81";  // U+2581

// Protocol buffers merge repeated messages: these four bytes after a model set normalizer_spec.add_dummy_prefix to false.
constexpr std::string_view without_prefix("\x1a\x02\x18\x00", 4);

constexpr size_t chunk_bytes = 4096;

std::unique_ptr<SentencePieceProcessor> load(const std::string& bytes, const std::filesystem::path& file) {
  auto processor = std::make_unique<SentencePieceProcessor>();
  const auto status = bytes.empty() ? sentencepiece::util::Status(sentencepiece::util::StatusCode::kInternal, "the file is empty")
                                    : processor->LoadFromSerializedProto(bytes);
  if (!status.ok()) {
    throw ConfigError(
        fmt::format("{} is not a SentencePiece model ({}). The file must be whole. Copy it again.", file.string(), status.ToString()));
  }
  return processor;
}

Decoder make_decoder(bool strips_prefix, bool prefix_everywhere) {
  using nlohmann::json;
  json steps = {
      {{"type", "Replace"}, {"pattern", {{"String", word_mark}}}, {"content", " "}}, {{"type", "ByteFallback"}}, {{"type", "Fuse"}}};
  if (strips_prefix) steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  const json decoder = {{"type", "Sequence"}, {"decoders", steps}};
  return Decoder(JsonField(decoder, "tokenizer.model"), false, prefix_everywhere);
}

class SentencePieceModel : public TextModel {
 public:
  SentencePieceModel(const std::string& bytes, const std::filesystem::path& file, bool prefix_everywhere)
      : start_(load(bytes, file)),
        inner_(load(bytes + std::string(without_prefix), file)),
        prefix_everywhere_(prefix_everywhere),
        lines_stand_alone_(lines_stand_alone(*inner_)),
        decoder_(make_decoder(puts_prefix(*start_), prefix_everywhere)) {}

  std::string normalize(std::string_view text) const override { return std::string(text); }

  void encode(std::string_view text, bool at_start, WordCache&, std::vector<int32_t>& ids) const override {
    const SentencePieceProcessor* processor = at_start || prefix_everywhere_ ? start_.get() : inner_.get();
    while (!text.empty()) {
      const std::string_view chunk = text.substr(0, chunk_end(text));
      std::vector<int> found;
      const auto status = processor->Encode(chunk, &found);
      if (!status.ok()) {
        throw DataError(
            fmt::format("The text cannot be encoded ({}). SentencePiece must accept it. Cut or change the text.", status.ToString()));
      }
      ids.insert(ids.end(), found.begin(), found.end());
      text.remove_prefix(chunk.size());
      processor = inner_.get();
    }
  }

  std::string decode(std::span<const int32_t> ids, bool at_start) const override {
    std::vector<std::string> tokens;
    for (const int32_t id : ids) tokens.push_back(start_->IdToPiece(id));
    return decoder_.decode(std::move(tokens), at_start);
  }

  std::optional<int32_t> id_of(std::string_view piece) const override {
    const int id = start_->PieceToId(piece);
    return start_->IdToPiece(id) == piece ? std::optional(id) : std::nullopt;
  }

  std::optional<std::string> piece(int32_t id) const override {
    return id >= 0 && id < end_id() ? std::optional(start_->IdToPiece(id)) : std::nullopt;
  }

  int32_t end_id() const override { return start_->GetPieceSize(); }
  const SentencePieceProcessor& processor() const { return *start_; }

 private:
  static bool puts_prefix(const SentencePieceProcessor& processor) {
    const auto pieces = processor.EncodeAsPieces("a");
    return !pieces.empty() && pieces[0].starts_with(word_mark);
  }

  // The library's time grows faster than the text. Where it makes no difference, long texts are handed to it in chunks of whole lines.
  size_t chunk_end(std::string_view text) const {
    if (!lines_stand_alone_ || text.size() <= chunk_bytes) return text.size();
    const size_t line_end = text.find('\n', chunk_bytes);
    return line_end == std::string_view::npos ? text.size() : line_end + 1;
  }

  // Whether a line end is always a byte token of its own and white space around it is kept, so that no piece reaches over it.
  static bool lines_stand_alone(const SentencePieceProcessor& processor) {
    for (int id = 0; id < processor.GetPieceSize(); ++id) {
      if (processor.IdToPiece(id).find('\n') != std::string::npos) return false;
    }
    const std::vector<std::string> line_end = processor.EncodeAsPieces("\n \n\n");
    return line_end == std::vector<std::string>{"<0x0A>", std::string(word_mark), "<0x0A>", "<0x0A>"};
  }

  std::unique_ptr<SentencePieceProcessor> start_;  // for the start of a text
  std::unique_ptr<SentencePieceProcessor> inner_;  // puts no word mark first
  bool prefix_everywhere_;
  bool lines_stand_alone_;
  Decoder decoder_;
};

}  // namespace

SentencePieceFile read_sentencepiece(const std::filesystem::path& file, bool prefix_everywhere) {
  auto model = std::make_unique<SentencePieceModel>(read_bytes(file), file, prefix_everywhere);
  const SentencePieceProcessor& processor = model->processor();
  SentencePieceFile out;
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    if (processor.IsControl(id) || processor.IsUnknown(id))
      out.added.push_back({.content = processor.IdToPiece(id), .id = id, .special = true});
  }
  const auto known = [](int id) { return id < 0 ? std::nullopt : std::optional<int32_t>(id); };
  out.bos_id = known(processor.bos_id());
  out.eos_id = known(processor.eos_id());
  out.pad_id = known(processor.pad_id());
  out.model = std::move(model);
  return out;
}

}  // namespace scantling
