// An unknown key is answered in this order: the same name in another section, what it is called here, the nearest spelling in its
// section, the nearest anywhere, the nearest section, and only then a list.
#include "scantling/train/run_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scantling/core/text.h"
#include "scantling/train/run_fields_sections.h"

namespace scantling {
namespace {

// What people call these settings elsewhere.
const std::map<std::string, std::string>& other_names() {
  static const std::map<std::string, std::string> names = {{"gradient_checkpoint", "layout.recompute"},
                                                           {"gradient_checkpointing", "layout.recompute"},
                                                           {"activation_checkpointing", "layout.recompute"},
                                                           {"checkpoint_activations", "layout.recompute"},
                                                           {"lr", "train.learning_rate"},
                                                           {"batch_size", "train.per_device_train_batch_size"},
                                                           {"micro_batch_size", "train.per_device_train_batch_size"},
                                                           {"train_batch_size", "train.global_batch_size"},
                                                           {"warmup", "train.warmup_steps"},
                                                           {"warmup_ratio", "train.warmup_steps"},
                                                           {"epochs", "train.num_train_epochs"},
                                                           {"steps", "train.max_steps"},
                                                           {"optimizer", "train.optim"},
                                                           {"scheduler", "train.lr_scheduler_type"},
                                                           {"clip_grad_norm", "train.max_grad_norm"},
                                                           {"gradient_clipping", "train.max_grad_norm"},
                                                           {"beta1", "train.adam_beta1"},
                                                           {"beta2", "train.adam_beta2"},
                                                           {"epsilon", "train.adam_epsilon"},
                                                           {"eps", "train.adam_epsilon"},
                                                           {"max_seq_length", "data.max_length"},
                                                           {"max_seq_len", "data.max_length"},
                                                           {"seq_len", "data.max_length"},
                                                           {"dataset", "data.train"},
                                                           {"train_file", "data.train"},
                                                           {"validation_file", "data.eval"},
                                                           {"model_name_or_path", "model"},
                                                           {"gpus", "devices.count"},
                                                           {"world_size", "devices.count"},
                                                           {"num_devices", "devices.count"},
                                                           {"bf16", "layout.precision.compute"},
                                                           {"dtype", "layout.precision.compute"},
                                                           {"fsdp", "layout.mesh.shard"}};
  return names;
}

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

std::string parent_of(const std::string& key) { return key.find('.') == std::string::npos ? "" : key.substr(0, key.rfind('.')); }

std::vector<std::string> keys_where(const std::function<bool(const Field&)>& wanted, const std::function<std::string(const Field&)>& part) {
  std::vector<std::string> keys;
  for (const auto& field : run_fields())
    if (wanted(field)) keys.push_back(part(field));
  return keys;
}

const Field* named(const std::string& name) {
  for (const auto& field : run_fields())
    if (field.name() == name) return &field;
  return nullptr;
}

}  // namespace

std::string Field::section() const { return key.substr(0, key.find('.') == std::string::npos ? 0 : key.find('.')); }

std::string Field::name() const { return last_part(key); }

std::string Field::default_text() const {
  if (!missing.empty()) return missing;
  const std::string text = get(RunOptions{}).value_or("");
  return text.empty() || text == "\"\"" ? "none" : text;
}

const std::vector<Field>& run_fields() {
  static const std::vector<Field> fields = [] {
    std::vector<Field> all;
    for (auto part : {data_fields(), device_fields(), layout_fields(), train_fields()})
      for (auto& field : part) all.push_back(std::move(field));
    return all;
  }();
  return fields;
}

const Field* find_run_field(const std::string& key) {
  const auto& fields = run_fields();
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.key == key; });
  return found == fields.end() ? nullptr : &*found;
}

bool is_run_section(const std::string& key) {
  const auto& fields = run_fields();
  return std::any_of(fields.begin(), fields.end(), [&](const Field& field) { return field.key.starts_with(key + "."); });
}

std::string unknown_key_remedy(const std::string& key) {
  const std::string name = last_part(key), parent = parent_of(key);
  if (const Field* elsewhere = named(name))
    return elsewhere->section().empty() ? fmt::format("This key belongs outside of every section: {}.", elsewhere->key)
                                        : fmt::format("This key belongs in section {}: {}.", parent_of(elsewhere->key), elsewhere->key);
  if (const auto known = other_names().find(name); known != other_names().end()) return fmt::format("Here it is called {}.", known->second);
  const auto in_parent = [&](const Field& field) { return field.key.starts_with(parent + "."); };
  const auto leaf = [](const Field& field) { return field.name(); };
  if (const std::string near = nearest_name(name, keys_where(in_parent, leaf)); !near.empty()) {
    for (const auto& field : run_fields())
      if (in_parent(field) && field.name() == near) return fmt::format("The nearest key is {}.", field.key);
  }
  const auto any = [](const Field&) { return true; };
  if (const std::string near = nearest_name(name, keys_where(any, leaf)); !near.empty())
    return fmt::format("The nearest key is {}.", named(near)->key);
  std::vector<std::string> sections;
  for (const auto& field : run_fields()) {
    const std::string top = field.key.substr(0, field.key.find('.'));
    if (std::find(sections.begin(), sections.end(), top) == sections.end()) sections.push_back(top);
  }
  if (const std::string near = nearest_name(name, sections); !near.empty()) return fmt::format("The nearest section is {}.", near);
  if (parent.empty()) return fmt::format("A run file has {}.", join_names(sections));
  return fmt::format("Section {} has {}.", parent, join_names(keys_where(in_parent, leaf), 40));
}

}  // namespace scantling
