// Says what each device of a layout would hold, without weights: price_a_layout CONFIG.json DEVICES
#include <cstdio>
#include <cstdlib>

#include "scantling/core/bytes.h"
#include "scantling/models/description/load.h"
#include "scantling/models/llama.h"
#include "scantling/plan/price.h"

int main(int count, char** words) {
  if (count != 3) return std::fprintf(stderr, "usage: price_a_layout CONFIG.json DEVICES\n"), 2;
  using namespace scantling;
  try {
    const auto model = make_llama(open_model(words[1]).llama);
    const DeviceOptions devices{.count = std::atoi(words[2])};
    const LayoutOptions options{.mesh = {.shard = devices.count}, .recompute = Recompute::block};
    const OptimizerOptions adamw;
    const auto layout = resolve_layout(model.description, options, devices);
    const auto priced = price(model, layout, {.rows = 1, .length = 1024}, &adamw);
    for (const auto& rank : priced.ranks) std::printf("device %d: %s at its peak\n", rank.rank, format_bytes(rank.peak.bytes).c_str());
  } catch (const Error& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 2;
  }
}
