// Everything written from the field list: the resolved file, the documentation and the flags of --help.
#include <fmt/format.h>

#include "scantling/train/run_fields.h"
#include "scantling/train/run_file.h"

namespace scantling {
namespace {

std::vector<std::string> parts_of(const std::string& key) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', begin)) {
    parts.push_back(key.substr(begin, dot - begin));
    begin = dot + 1;
  }
  parts.push_back(key.substr(begin));
  return parts;
}

// Nested YAML of the fields; `only_changed` leaves out those that have their default.
std::string write(const RunOptions& options, bool only_changed) {
  std::string yaml;
  std::vector<std::string> open;  // the sections the last line stands in
  const RunOptions defaults;
  for (const auto& field : run_fields()) {
    const auto value = field.get(options);
    if (!value || (only_changed && value == field.get(defaults))) continue;
    auto parts = parts_of(field.key);
    const std::string name = parts.back();
    parts.pop_back();
    for (size_t depth = 0; depth < parts.size(); depth++) {
      if (depth < open.size() && open[depth] == parts[depth]) continue;
      open.resize(depth);
      open.push_back(parts[depth]);
      yaml += fmt::format("{:{}}{}:\n", "", 2 * depth, parts[depth]);
    }
    open.resize(parts.size());
    yaml += fmt::format("{:{}}{}: {}\n", "", 2 * parts.size(), name, *value);
  }
  return yaml;
}

RunOptions example() {
  RunOptions run;
  run.model = "models/smollm2-135m";
  run.data.train = "fortunes.txt";
  run.data.document_separator = "%";
  run.data.max_length = 128;
  run.data.packing = true;
  run.devices.count = 4;
  run.devices.memory_bytes = int64_t{1} << 30;
  run.layout.mesh.shard = 4;
  run.layout.wrap.classes = {"LlamaDecoderLayer"};
  run.layout.freeze = {"model.layers.{0..25}.*"};
  run.layout.precision.compute = DType::bfloat16;
  run.train.per_device_train_batch_size = 1;
  run.train.global_batch_size = 8;
  run.train.max_steps = 20;
  run.train.optimizer.learning_rate = 2e-4;
  run.train.schedule.kind = ScheduleKind::cosine;
  run.train.schedule.warmup_steps = 2;
  return run;
}

std::string cell(std::string text) {
  for (size_t bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar + 2)) text.insert(bar, "\\");
  return text;
}

std::string type_and_unit(const Field& field) { return field.unit.empty() ? field.type : fmt::format("{} ({})", field.type, field.unit); }

}  // namespace

std::string to_yaml(const RunOptions& options) { return write(options, false); }

std::string run_file_markdown() {
  std::string text = fmt::format(
      "# The run file\n\nA run file is YAML. Every key can be given on the command line too, as `--section.key=value`. Keys that are not "
      "listed here are errors.\nThe file as it was understood, with every default, is written to `run.yaml` in the output folder. Patterns "
      "are globs over full parameter names\n(`*` matches dots too, `{{0..25}}` is an inclusive range, `{{a,b}}` a choice) or `re:` and a "
      "regular expression; they match whole names.\n\n```yaml\n{}```\n",
      write(example(), true));
  std::string section = "none yet";
  for (const auto& field : run_fields()) {
    const std::string top = parts_of(field.key)[0];
    if (top != section) text += fmt::format("\n## {}\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n", top);
    section = top;
    text += fmt::format("| `{}` | {} | {} | {} |\n", field.key, cell(type_and_unit(field)), cell(field.default_text()), cell(field.doc));
  }
  return text;
}

std::string run_file_help() {
  std::string text;
  for (const auto& field : run_fields())
    text += fmt::format("  --{}=VALUE\n      {} [{}; default: {}]\n", field.key, field.doc, type_and_unit(field), field.default_text());
  return text;
}

}  // namespace scantling
