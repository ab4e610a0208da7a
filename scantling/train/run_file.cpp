// Three steps: values into the options (file, then flags, which win), what follows from other values, then every check. The line or
// flag of each key is kept to the end, so that a fault found by a section's own check still names where the value stands.
#include "scantling/train/run_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "scantling/core/text.h"
#include "scantling/train/run_fields.h"

namespace scantling {
namespace {

class Reader {
 public:
  Reader(std::string name, Faults& faults) : name_(std::move(name)), faults_(faults) {}

  void read_file(std::string_view text) {
    const RunValue root = parse_yaml(text, name_, faults_);
    if (root.kind == RunValue::Kind::map)
      read_map(root, "");
    else if (root.kind != RunValue::Kind::null)
      faults_.add(fmt::format("{}: holds {}. A run file is a map of sections. Write `model: PATH` and the sections.", root.place,
                              root.description()));
    from_file_ = std::move(places_);
    places_.clear();
  }

  void read_overrides(const std::vector<std::string>& overrides) {
    for (const auto& flag : overrides) read_override(flag);
  }

  // Values that depend on which keys were given.
  RunOptions finish(RunUse use) {
    places_.merge(from_file_);
    if (!places_.contains("data.packing")) run_.data.packing = run_.data.format == DataFormat::text;
    const auto first_axis = places_.lower_bound("layout.mesh.");
    if (first_axis == places_.end() || !first_axis->first.starts_with("layout.mesh.")) run_.layout.mesh.shard = run_.devices.count;
    Faults found;
    validate_readable(use, found);
    for (const auto& fault : found.list()) faults_.add(placed(fault));
    return std::move(run_);
  }

 private:
  void read_map(const RunValue& map, const std::string& prefix) {
    for (const auto& entry : map.entries) {
      if (entry.key.find('.') != std::string::npos)
        faults_.add(fmt::format("{}: the key {} has a dot. In a file, sections are nested. Write `section: {{key: value}}`.", entry.place,
                                entry.key));
      else
        read_entry(prefix + entry.key, entry.value, entry.place);
    }
  }

  void read_entry(const std::string& key, const RunValue& value, const std::string& place) {
    const Field* field = find_run_field(key);
    const bool section = is_run_section(key);
    if (field && !(section && value.kind == RunValue::Kind::map)) return set(*field, value, place);
    if (section && value.kind == RunValue::Kind::map) return read_map(value, key + ".");
    if (section && value.kind == RunValue::Kind::null) return;
    if (section)
      faults_.add(fmt::format("{}: {} is {}. It is a section and needs keys of its own. Write `{}: {{key: value}}`.", place, key,
                              value.description(), key.substr(key.rfind('.') + 1)));
    else
      faults_.add(fmt::format("{}: {} is no key of a run file. Every key must be known. {}", place, key, unknown_key_remedy(key)));
  }

  void set(const Field& field, const RunValue& value, const std::string& place) {
    if (!places_.emplace(field.key, place).second) {
      faults_.add(fmt::format("{}: {} is given twice. It can have one value. Remove one.", place, field.key));
      return;
    }
    const auto needed = field.set(run_, value);
    if (!needed) return;
    unread_.insert(field.section());
    const std::string found = value.kind == RunValue::Kind::null ? "has no value" : "is " + value.description();
    faults_.add(fmt::format("{}: {} {}. It must be {}. Left out, it is: {}.", place, field.key, found, *needed, field.default_text()));
  }

  void read_override(const std::string& flag) {
    if (!flag.starts_with("--")) {
      faults_.add(fmt::format(
          "\"{}\" is one argument too many. A command takes one run file and flags --section.key=value. Remove it, or write the "
          "flag with \"--\" and \"=\".",
          flag));
      return;
    }
    const std::string body = flag.substr(2);
    const size_t equals = body.find('=');
    const std::string key = body.substr(0, equals), shown = "--" + key;
    if (equals == std::string::npos && !find_run_field(key) && !is_run_section(key)) {
      faults_.add(fmt::format("{}: is no flag of this command and no key of a run file. Every flag must be known. {}", shown,
                              unknown_key_remedy(key)));
      return;
    }
    if (equals == std::string::npos) {
      faults_.add(fmt::format("{}: has no value. A flag that changes the run file is --section.key=value. Write {}=VALUE.", shown, shown));
      return;
    }
    const Field* field = find_run_field(key);
    const std::string openings = std::string(field && field->is_list ? "[" : "") + (is_run_section(key) ? "{" : "");
    try {
      read_entry(key, parse_flag_value(body.substr(equals + 1), shown, openings, faults_), shown);
    } catch (const ConfigError& error) {
      faults_.add(error.what());
    }
  }

  // A section with a value that could not be read is not judged further: its fault would follow from a default.
  void validate_readable(RunUse use, Faults& faults) {
    const auto readable = [&](std::initializer_list<const char*> sections) {
      return std::none_of(sections.begin(), sections.end(), [&](const char* section) { return unread_.contains(section); });
    };
    if (readable({"data"})) run_.data.validate(faults);
    if (readable({"devices"})) run_.devices.validate(faults);
    if (readable({"devices", "layout"})) run_.layout.validate(run_.devices, faults);
    if (readable({"train"})) run_.train.validate(faults);
    if (readable({"devices", "layout", "train"})) resolve(run_, faults);
    if (readable({"", "data", "train"})) validate_together(run_, use, faults);
  }

  // Faults of the sections begin with their key: puts the line or flag in front.
  std::string placed(const std::string& fault) const {
    const auto place = places_.find(fault.substr(0, fault.find_first_of(" :")));
    return fmt::format("{}: {}", place == places_.end() ? name_ : place->second, fault);
  }

  std::string name_;
  Faults& faults_;
  RunOptions run_;
  std::map<std::string, std::string> places_;     // of the source being read: key -> line or flag
  std::map<std::string, std::string> from_file_;  // overrides may give these keys again
  std::set<std::string> unread_;                  // sections with a value that could not be read; "": model
};

}  // namespace

RunOptions parse_run(std::string_view text, const std::string& name, const std::vector<std::string>& overrides, RunUse use) {
  Faults faults;
  Reader reader(name, faults);
  reader.read_file(text);
  reader.read_overrides(overrides);
  RunOptions run = reader.finish(use);
  faults.throw_if_any();
  return run;
}

RunOptions load_run(const std::string& path, const std::vector<std::string>& overrides, RunUse use) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream || std::filesystem::is_directory(path))
    throw ConfigError(fmt::format("{}: cannot be read. A run needs its run file. Correct the path.", path));
  if (!is_utf8(text.view()))
    throw ConfigError(fmt::format("{}: byte {} is not UTF-8. A run file is UTF-8 text. Convert it, for example with iconv -t UTF-8.", path,
                                  utf8_prefix(text.view())));
  return parse_run(text.view(), path, overrides, use);
}

}  // namespace scantling
