// Helpers for messages: nearest names, lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace scantling {

// The candidate with the smallest edit distance to `name`; empty if none is near (distance above a third of the length, at least 2).
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

// "a, b, c and 4 more" (shows at most `most` items).
std::string join_names(const std::vector<std::string>& names, size_t most = 8);

// 1234567 -> "1,234,567"
std::string with_commas(int64_t value);

// The divisors of `value`, ascending: the sizes that work.
std::vector<int64_t> divisors(int64_t value);

// Bytes of the longest well-formed UTF-8 prefix of `text`, which is the offset of the first malformed byte if there is one.
size_t utf8_prefix(std::string_view text);

// Whether `text` is well-formed UTF-8.
bool is_utf8(std::string_view text);

}  // namespace scantling
