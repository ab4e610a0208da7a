// Amounts of memory in words: "1.50 GiB" for people, "1GiB" in run files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace scantling {

std::string format_bytes(int64_t bytes);                    // three significant digits: "1.00 GiB", "512 B", "-1.00 KiB"
std::optional<int64_t> parse_bytes(std::string_view text);  // "1GiB", "1.5 GiB", "500MB", "1024"; none if malformed or negative

}  // namespace scantling
