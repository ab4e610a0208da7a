#include "scantling/train/run_fields_kinds.h"
#include "scantling/train/run_fields_sections.h"

namespace scantling {
namespace {

Field packing_field() {
  Field field{.key = "data.packing",
              .type = "true | false | dense",
              .doc = "Join documents into rows of max_length. Attention does not cross a join, unless dense.",
              .missing = "true for text, else false"};
  field.set = [](RunOptions& run, const RunValue& value) -> std::optional<std::string> {
    const bool dense = value.is_text() && value.text == "dense";
    const auto flag = dense ? std::optional(true) : parse_flag(value);
    if (!flag) return "one of true | false | dense";
    run.data.packing = *flag;
    run.data.packing_dense = dense;
    return std::nullopt;
  };
  field.get = [](const RunOptions& run) -> std::optional<std::string> {
    return run.data.packing_dense ? "dense" : run.data.packing ? "true" : "false";
  };
  return field;
}

}  // namespace

std::vector<Field> data_fields() {
  const Words<DataFormat> formats = {{"text", DataFormat::text},
                                     {"jsonl", DataFormat::jsonl},
                                     {"instruct", DataFormat::instruct},
                                     {"chat", DataFormat::chat},
                                     {"tokens", DataFormat::tokens}};
  return {
      text_field(
          "model", "path", "A Hugging Face folder; or a model's configuration (*.json) alone, to train from scratch.",
          [](auto& run) -> auto& { return run.model; }),
      text_field(
          "data.train", "path", "The file to train on.", [](auto& run) -> auto& { return run.data.train; }),
      text_field(
          "data.eval", "path", "The file to evaluate on.", [](auto& run) -> auto& { return run.data.eval; }),
      choice_field(
          "data.format", formats, "What the files hold: plain text, or one JSON object a line.",
          [](auto& run) -> auto& { return run.data.format; }),
      text_field(
          "data.document_separator", "text", "For text: the line that ends a document. None: the file is one document.",
          [](auto& run) -> auto& { return run.data.document_separator; }),
      number_field(
          "data.max_length", "tokens", "Length of a row; longer ones are cut with a notice.",
          [](auto& run) -> auto& { return run.data.max_length; }),
      packing_field(),
      flag_field(
          "data.shuffle", "Draw the order of rows anew in every epoch, from the seed; false keeps the file's.",
          [](auto& run) -> auto& { return run.data.shuffle; }),
      flag_field(
          "data.drop_last", "Leave out the incomplete last batch of an epoch.", [](auto& run) -> auto& { return run.data.drop_last; }),
      flag_field(
          "data.mask_prompt", "For instruct and chat: only the answers are labels.",
          [](auto& run) -> auto& { return run.data.mask_prompt; }),
      flag_field(
          "data.skip_bad_lines", "For JSON lines: list lines that cannot be used and go on without them.",
          [](auto& run) -> auto& { return run.data.skip_bad_lines; }),
  };
}

}  // namespace scantling
