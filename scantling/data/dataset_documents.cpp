// A record's faults are thrown as bare reasons, so that the record reader adds file and line, or leaves the record out.
// Prompt and answer are tokenized as one text, the way a model sees them later; then the segments are found again in the tokens.
#include "scantling/data/dataset_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scantling/core/error.h"
#include "scantling/data/reader_json.h"
#include "scantling/data/reader_text.h"

namespace scantling {
namespace {

using nlohmann::json;

struct Context {
  const DataOptions& options;
  int64_t vocab_size;
  const TextEncoder& encoder;
};

void require_vocabulary(const Context& context, int64_t id, std::string_view what) {
  const int64_t limit = context.vocab_size == 0 ? int64_t{INT32_MAX} + 1 : context.vocab_size;
  if (id < 0 || id >= limit) throw DataError(fmt::format("the {} {} is outside the model's vocabulary of {} tokens", what, id, limit));
}

const json& field(const json& record, const char* name) {
  if (!record.is_object()) throw DataError(fmt::format("is {} and not an object", record.type_name()));
  const auto found = record.find(name);
  if (found == record.end()) throw DataError(fmt::format("has no \"{}\"", name));
  return *found;
}

const std::string& text_field(const json& record, const char* name) {
  const json& value = field(record, name);
  if (!value.is_string()) throw DataError(fmt::format("\"{}\" is {} and not a string", name, value.type_name()));
  return value.get_ref<const std::string&>();
}

Document all_labels(const Context& context, std::vector<int32_t> ids) {
  for (const int32_t id : ids) require_vocabulary(context, id, "token");
  return {ids, ids};
}

Document document_of_text(const Context& context, std::string_view text) {
  auto ids = context.encoder.encode(text, true);
  if (context.encoder.end_id) ids.push_back(*context.encoder.end_id);
  return all_labels(context, std::move(ids));
}

// How many tokens of `ids` lie before a place in their text, given the tokens of the text up to it: one that reaches over the place lies
// behind.
size_t tokens_before(const std::vector<int32_t>& ids, const std::vector<int32_t>& prefix) {
  const size_t shorter = std::min(ids.size(), prefix.size());
  return static_cast<size_t>(std::mismatch(ids.begin(), ids.begin() + static_cast<int64_t>(shorter), prefix.begin()).first - ids.begin());
}

Document document_of_segments(const Context& context, const std::vector<ChatSegment>& segments, bool start) {
  std::string text;
  for (const auto& segment : segments) text += segment.text;
  auto document = all_labels(context, context.encoder.encode(text, start));
  if (!context.options.mask_prompt) return document;
  size_t place = 0;
  size_t first_token = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    place += segments[i].text.size();
    const bool last = i + 1 == segments.size();
    if (!last && segments[i + 1].assistant == segments[i].assistant) continue;
    const size_t end =
        last ? document.ids.size() : tokens_before(document.ids, context.encoder.encode(std::string_view(text).substr(0, place), start));
    if (!segments[i].assistant && end > first_token) {
      std::fill(document.labels.begin() + static_cast<int64_t>(first_token), document.labels.begin() + static_cast<int64_t>(end),
                ignored_label);
    }
    first_token = std::max(first_token, end);
  }
  return document;
}

Document document_of_instruction(const Context& context, const json& record) {
  const auto& instruction = text_field(record, "instruction");
  const auto& output = text_field(record, "output");
  const std::string input = record.contains("input") ? text_field(record, "input") : "";
  if (context.encoder.render) {
    const std::string question = input.empty() ? instruction : instruction + "\n" + input;
    return document_of_segments(context, context.encoder.render({{"user", question}, {"assistant", output}}), false);
  }
  auto document = document_of_segments(context, {{alpaca_prompt(instruction, input), false}, {output, true}}, true);
  if (context.encoder.end_id) {
    document.ids.push_back(*context.encoder.end_id);
    document.labels.push_back(*context.encoder.end_id);
  }
  return document;
}

// A message's text: a string, or a list of text parts.
std::string content_of(const json& message) {
  const json& content = field(message, "content");
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) throw DataError(fmt::format("a message's \"content\" is {} and not a string", content.type_name()));
  std::string text;
  for (const json& part : content) {
    if (text_field(part, "type") != "text") throw DataError("a message has a part that is not text");
    text += text_field(part, part.contains("text") ? "text" : "value");
  }
  return text;
}

// Whether a message is to be learned: answers are, unless their "loss_weight" is 0.
bool is_learned(const json& message, bool answer) {
  if (!message.contains("loss_weight")) return answer;
  const json& weight = message["loss_weight"];
  if (weight == 0 || (weight == 1 && answer)) return weight == 1;
  throw DataError("a \"loss_weight\" is not 0, or 1 in an assistant's message");
}

Document document_of_messages(const Context& context, const json& record) {
  const json& messages = field(record, "messages");
  if (!messages.is_array() || messages.empty()) throw DataError("\"messages\" is not a list of messages");
  std::vector<ChatMessage> turns;
  std::vector<bool> learned;
  for (const json& message : messages) {
    turns.push_back({text_field(message, "role"), content_of(message)});
    const bool answer = turns.back().role == "assistant";
    const bool learn = is_learned(message, answer);
    if (answer) learned.push_back(learn);
  }
  auto segments = context.encoder.render(turns);
  const auto answers =
      static_cast<size_t>(std::count_if(segments.begin(), segments.end(), [](const ChatSegment& segment) { return segment.assistant; }));
  if (std::find(learned.begin(), learned.end(), false) != learned.end()) {
    if (answers != learned.size())
      throw DataError("the chat template joins answers, so one of them cannot be left out by \"loss_weight\": 0");
    size_t next = 0;
    for (auto& segment : segments) {
      if (segment.assistant) segment.assistant = learned[next++];
    }
  }
  return document_of_segments(context, segments, false);
}

std::vector<int32_t> integers(const Context& context, const json& list, const char* name, bool labels) {
  if (!list.is_array()) throw DataError(fmt::format("\"{}\" is {} and not a list of whole numbers", name, list.type_name()));
  std::vector<int32_t> values;
  values.reserve(list.size());
  for (const json& item : list) {
    if (!item.is_number_integer()) throw DataError(fmt::format("\"{}\" holds {} and not whole numbers only", name, item.dump()));
    const auto value = item.get<int64_t>();
    if (!labels || value != ignored_label) require_vocabulary(context, value, labels ? "label" : "token");
    values.push_back(static_cast<int32_t>(value));
  }
  return values;
}

Document document_of_ids(const Context& context, const json& record) {
  Document document;
  document.ids = integers(context, field(record, "input_ids"), "input_ids", false);
  document.labels = record.contains("labels") ? integers(context, record["labels"], "labels", true) : document.ids;
  if (document.labels.size() != document.ids.size()) {
    throw DataError(fmt::format("has {} \"input_ids\" and {} \"labels\", but needs as many labels as ids", document.ids.size(),
                                document.labels.size()));
  }
  return document;
}

struct RecordFormat {
  const char* shape;
  Document (*document)(const Context&, const json&);
  bool array_allowed;
};

RecordFormat record_format(DataFormat format) {
  switch (format) {
    case DataFormat::jsonl:
      return {"an object with a string \"text\"",
              [](const Context& c, const json& r) { return document_of_text(c, text_field(r, "text")); }, false};
    case DataFormat::tokens: return {"an object with a list \"input_ids\" and, if wanted, as many \"labels\"", document_of_ids, false};
    case DataFormat::instruct:
      return {"an object with the strings \"instruction\", \"output\" and, if wanted, \"input\"", document_of_instruction, true};
    case DataFormat::chat: return {"an object with \"messages\", each with a \"role\" and a text \"content\"", document_of_messages, true};
    case DataFormat::text: break;
  }
  check(false, "text has no records");
  return {};
}

}  // namespace

void read_documents(const std::string& path, const DataOptions& options, int64_t vocab_size, const TextEncoder& encoder,
                    const std::function<void(const Document&)>& add, std::vector<std::string>& notices) {
  const Context context{options, vocab_size, encoder};
  if (options.format == DataFormat::text) {
    const std::string text = read_text_file(path);
    try {
      for (const auto document : split_documents(text, options.document_separator)) add(document_of_text(context, document));
    } catch (const DataError& fault) {
      throw DataError(fmt::format(
          "{}: {}. Every token must be one of the model's. Use the model's own tokenizer files, or correct the text.", path, fault.what()));
    }
    return;
  }
  if (options.format == DataFormat::chat && !encoder.render) {
    throw DataError(
        fmt::format("{}: data.format is chat, but the model's tokenizer has no chat template. Conversations are written by the template. "
                    "Add tokenizer_config.json with \"chat_template\" to the model's folder, or use data.format: instruct.",
                    path));
  }
  if (options.format == DataFormat::instruct && !encoder.render) {
    notices.push_back(fmt::format("{}: the model's tokenizer has no chat template; instructions are written in Alpaca's form", path));
  }
  const auto format = record_format(options.format);
  read_records(
      {path, format.array_allowed, options.skip_bad_lines, format.shape},
      [&](const json& record) { add(format.document(context, record)); }, notices);
}

std::string alpaca_prompt(std::string_view instruction, std::string_view input) {
  const std::string_view task = "Write a response that appropriately completes the request.";
  if (input.empty()) {
    return fmt::format("Below is an instruction that describes a task. {}\n\n### Instruction:\n{}\n\n### Response:\n", task, instruction);
  }
  return fmt::format(
      "Below is an instruction that describes a task, paired with an input that provides further context. {}\n\n"
      "### Instruction:\n{}\n\n### Input:\n{}\n\n### Response:\n",
      task, instruction, input);
}

}  // namespace scantling
