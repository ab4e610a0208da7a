// The encoder's functions share the tokenizer, so it lives as long as one of them.
#include "scantling/data/dataset_encoder.h"

#include <utility>

#include "scantling/data/chat_template.h"

namespace scantling {

TextEncoder encoder_of(const std::shared_ptr<const Tokenizer>& tokenizer, DataFormat format) {
  TextEncoder encoder;
  encoder.encode = [tokenizer](std::string_view text, bool start) {
    return tokenizer->encode(text, {.parse_special = true, .add_bos = start});
  };
  encoder.end_id = tokenizer->eos_id;
  const bool conversations = format == DataFormat::chat || format == DataFormat::instruct;
  if (conversations && !tokenizer->chat_template.empty()) {
    encoder.render = [chat = chat_template_of(*tokenizer)](const std::vector<ChatMessage>& messages) {
      return chat.render_with_spans(messages);
    };
  }
  return encoder;
}

DatasetSource dataset_source(const std::string& path, const DataOptions& options, const std::filesystem::path& tokenizer_folder,
                             int64_t vocab_size) {
  DatasetSource source;
  source.path = path;
  source.options = options;
  source.vocab_size = vocab_size;
  if (options.format == DataFormat::tokens) return source;
  source.tokenizer_fingerprint = fingerprint_of_tokenizer(tokenizer_folder);
  source.encoder = [tokenizer_folder, format = options.format] { return encoder_of(load_tokenizer(tokenizer_folder), format); };
  return source;
}

}  // namespace scantling
