// Ranges of the two sections, and that the mesh holds exactly the devices there are. Whether a pattern matches is not known here, for
// that takes the model; whether it can be read is.
#include "scantling/layout/options.h"

#include <fmt/format.h>

#include "scantling/core/text.h"
#include "scantling/layout/pattern.h"

namespace scantling {
namespace {

void validate_mesh(const MeshOptions& mesh, int count, Faults& faults) {
  const std::pair<const char*, int> axes[] = {{"stage", mesh.stage}, {"data", mesh.data}, {"shard", mesh.shard}, {"tensor", mesh.tensor}};
  int64_t product = 1;
  bool sound = count >= 1 && count <= DeviceOptions::most;
  for (const auto& [axis, size] : axes) {
    if (size < 1) faults.add(fmt::format("layout.mesh.{} is {}. An axis has at least one rank. Use 1 or more.", axis, size));
    sound = sound && size >= 1;
    product = size < 1 || product > (int64_t{1} << 31) / size ? int64_t{1} << 31 : product * size;
  }
  for (const auto& [axis, size] : {axes[0], axes[3]})
    if (size > 1)
      faults.add(fmt::format("layout.mesh.{} is {}. This version runs the axes data and shard. Use 1, and data or shard for the ranks.",
                             axis, size));
  if (!sound || product == count) return;
  std::vector<std::string> fitting;
  for (const int64_t data : divisors(count)) fitting.push_back(fmt::format("{{data: {}, shard: {}}}", data, count / data));
  faults.add(
      fmt::format("layout.mesh has stage {} x data {} x shard {} x tensor {} = {} ranks, but devices.count is {}. They must be equal. "
                  "Use one of {}, or devices.count {}.",
                  mesh.stage, mesh.data, mesh.shard, mesh.tensor, product, count, join_names(fitting), product));
}

void validate_patterns(const char* key, const std::vector<std::string>& patterns, Faults& faults) {
  for (const auto& text : patterns) try {
      const Pattern readable(text);
    } catch (const ConfigError& error) {
      faults.add(fmt::format("{}: {}", key, error.what()));
    }
}

}  // namespace

void DeviceOptions::validate(Faults& faults) const {
  if (kind != "cpu") faults.add(fmt::format("devices.kind is \"{}\". This version has devices of the kind cpu. Use cpu.", kind));
  if (count < 1 || count > most) faults.add(fmt::format("devices.count is {}. It must be from 1 to {}.", count, most));
  if (memory_bytes < 0) faults.add(fmt::format("devices.memory is {} bytes. It must not be negative. Use a size as 1GiB.", memory_bytes));
  if (cores < 0) faults.add(fmt::format("devices.cores is {}. It must be 0 (all of the machine's) or more.", cores));
}

void LayoutOptions::validate(const DeviceOptions& devices, Faults& faults) const {
  validate_mesh(mesh, devices.count, faults);
  if (wrap.min_parameters < 0)
    faults.add(fmt::format("layout.wrap.min_parameters is {}. It must be a number of parameters, 1 or more.", wrap.min_parameters));
  if (wrap.min_parameters > 0 && !wrap.classes.empty())
    faults.add("layout.wrap names classes and min_parameters. It is one or the other. Remove one; `--layout.wrap=[]` clears the classes.");
  validate_patterns("layout.freeze", freeze, faults);
  validate_patterns("layout.trainable", trainable, faults);
  if (!freeze.empty() && !trainable.empty())
    faults.add("layout.freeze and layout.trainable are both given. The second freezes everything it does not name. Remove one.");
  if (prefetch < 0) faults.add(fmt::format("layout.prefetch is {}. It must be 0 (none) or more units.", prefetch));
  if (precision.compute != DType::float32 && precision.compute != DType::bfloat16)
    faults.add(fmt::format("layout.precision.compute is {}. It must be float32 or bfloat16.", name_of(precision.compute)));
}

}  // namespace scantling
