// Uses one public header of the installed package, and LibTorch through it.
#include <ATen/ops/ones.h>

#include <cstdio>

#include "scantling/core/bytes.h"

int main() {
  const auto bytes = scantling::parse_bytes("1GiB");
  const int64_t count = at::ones({2, 3}).numel();
  std::printf("%s and %d elements\n", scantling::format_bytes(bytes.value_or(0)).c_str(), static_cast<int>(count));
  return bytes == int64_t{1} << 30 && count == 6 ? 0 : 1;
}
