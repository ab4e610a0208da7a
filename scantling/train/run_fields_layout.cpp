#include "scantling/core/bytes.h"
#include "scantling/train/run_fields_kinds.h"
#include "scantling/train/run_fields_sections.h"

namespace scantling {
namespace {

Field memory_field() {
  Field field{.key = "devices.memory",
              .type = "size | unlimited",
              .unit = "bytes",
              .doc = "Budget of each device, as 512MiB or 1.5GiB. It is compared with the ledger, not with the host's memory."};
  field.set = [](RunOptions& run, const RunValue& value) -> std::optional<std::string> {
    const auto bytes = value.is_text() ? parse_bytes(value.text) : std::nullopt;
    const bool unlimited = value.is_text() && value.text == "unlimited";
    if (!unlimited && bytes.value_or(0) == 0) return "a size above 0 as 512MiB, 1.5GiB or 1000000, or unlimited";
    run.devices.memory_bytes = unlimited ? 0 : *bytes;
    return std::nullopt;
  };
  field.get = [](const RunOptions& run) -> std::optional<std::string> { return yaml_bytes(run.devices.memory_bytes); };
  return field;
}

template <class Access>
Field axis_field(const std::string& axis, std::string doc, Access at) {
  Field field = number_field("layout.mesh." + axis, "ranks", std::move(doc), at);
  field.missing = axis == "shard" ? "1; without layout.mesh: devices.count" : "1";
  return field;
}

// `wrap: [classes]` and `wrap: {min_parameters: N}` are two forms of one setting: only the one in use is written.
std::vector<Field> wrap_fields() {
  Field classes = list_field(
      "layout.wrap", "list of classes", "Unit of gathering: modules of these classes.",
      [](auto& run) -> auto& { return run.layout.wrap.classes; });
  classes.missing = "the model's own blocks";
  classes.get = [](const RunOptions& run) -> std::optional<std::string> {
    if (run.layout.wrap.min_parameters > 0) return std::nullopt;
    return yaml_list(run.layout.wrap.classes);
  };
  Field size = number_field(
      "layout.wrap.min_parameters", "parameters", "Unit of gathering: modules of at least so many parameters.",
      [](auto& run) -> auto& { return run.layout.wrap.min_parameters; }, 1);
  size.get = [](const RunOptions& run) -> std::optional<std::string> {
    if (run.layout.wrap.min_parameters == 0) return std::nullopt;
    return fmt::format("{}", run.layout.wrap.min_parameters);
  };
  return {classes, size};
}

// A precision that has one value so far: read, checked and written, but not stored.
Field fixed_field(std::string key, std::string only, std::string doc) {
  Field field{.key = std::move(key), .type = only, .doc = std::move(doc)};
  field.set = [only](RunOptions&, const RunValue& value) -> std::optional<std::string> {
    if (value.is_text() && value.text == only) return std::nullopt;
    return only + " (the only value of this version)";
  };
  field.get = [only](const RunOptions&) -> std::optional<std::string> { return only; };
  return field;
}

std::vector<Field> precision_fields() {
  return {
      fixed_field("layout.precision.parameters", "float32", "Type of the master weights."),
      fixed_field("layout.precision.frozen", "same", "Type frozen weights are stored in: the parameters' one."),
      choice_field<DType>(
          "layout.precision.compute", {{"float32", DType::float32}, {"bfloat16", DType::bfloat16}},
          "Type of gathered weights and of activations.", [](auto& run) -> auto& { return run.layout.precision.compute; }),
      fixed_field("layout.precision.reduce", "float32", "Type gradients are added in."),
      fixed_field("layout.precision.optimizer", "float32", "Type of the optimizer's state."),
  };
}

}  // namespace

std::vector<Field> device_fields() {
  Field cores = number_field(
      "devices.cores", "cores", "How many virtual devices compute at once; 0: as many as the machine has cores.",
      [](auto& run) -> auto& { return run.devices.cores; });
  Field kind = text_field(
      "devices.kind", "cpu", "What the devices are: virtual devices on the host's processor.",
      [](auto& run) -> auto& { return run.devices.kind; });
  return {kind,
          number_field(
              "devices.count", "devices", "Number of devices.", [](auto& run) -> auto& { return run.devices.count; }),
          memory_field(), cores};
}

std::vector<Field> layout_fields() {
  std::vector<Field> fields = {
      axis_field(
          "stage", "Pipeline stages.", [](auto& run) -> auto& { return run.layout.mesh.stage; }),
      axis_field(
          "data", "Replicas that see different rows.", [](auto& run) -> auto& { return run.layout.mesh.data; }),
      axis_field(
          "shard", "Ranks that share each parameter and see different rows.", [](auto& run) -> auto& { return run.layout.mesh.shard; }),
      axis_field(
          "tensor", "Ranks that share each product.", [](auto& run) -> auto& { return run.layout.mesh.tensor; }),
  };
  for (auto& field : wrap_fields()) fields.push_back(std::move(field));
  fields.push_back(list_field(
      "layout.freeze", "list of patterns", "Parameters that are not trained.", [](auto& run) -> auto& { return run.layout.freeze; }));
  fields.push_back(list_field(
      "layout.trainable", "list of patterns", "Parameters that are trained; everything else is frozen.",
      [](auto& run) -> auto& { return run.layout.trainable; }));
  fields.push_back(choice_field<Recompute>(
      "layout.recompute", {{"none", Recompute::none}, {"block", Recompute::block}},
      "Keep only a block's input and compute it again in the backward pass.", [](auto& run) -> auto& { return run.layout.recompute; }));
  fields.push_back(choice_field<GatherMode>(
      "layout.gather", {{"shared", GatherMode::shared}, {"private", GatherMode::private_copy}},
      "Whether the ranks of one process share the copy of a gathered unit.", [](auto& run) -> auto& { return run.layout.gather; }));
  fields.push_back(number_field(
      "layout.prefetch", "units", "Units gathered ahead of their use.", [](auto& run) -> auto& { return run.layout.prefetch; }));
  for (auto& field : precision_fields()) fields.push_back(std::move(field));
  for (auto& field : fields)
    if (field.is_list && field.missing.empty()) field.missing = "none";
  return fields;
}

}  // namespace scantling
