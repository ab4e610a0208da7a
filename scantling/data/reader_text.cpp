// Documents are views into the one string that holds the file, so splitting copies nothing.
#include "scantling/data/reader_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "scantling/core/error.h"
#include "scantling/core/text.h"

namespace scantling {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string_view without_line_end(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

std::string bytes_of_file(const std::string& path) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(path, fault)) {
    throw DataError(fmt::format("{}: {}. Training text is read from regular files. Give the path of an existing file.", path,
                                std::filesystem::exists(path, fault) ? "is not a regular file" : "does not exist"));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<size_t>(std::filesystem::file_size(path, fault)), '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    throw DataError(fmt::format("{}: cannot be read ({}). A readable file is needed. Check its permissions.", path, std::strerror(errno)));
  }
  return text;
}

std::string without_mark(std::string text) {
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

}  // namespace

std::string read_data_file(const std::string& path) { return without_mark(bytes_of_file(path)); }

std::string read_text_file(const std::string& path) {
  std::string text = bytes_of_file(path);
  const size_t good = utf8_prefix(text);
  if (good < text.size()) {
    throw DataError(
        fmt::format("{}: byte {} (0x{:02X}) is not UTF-8. Training text must be UTF-8. Convert the file, for example with "
                    "iconv -t UTF-8.",
                    path, good, static_cast<unsigned char>(text[good])));
  }
  return without_mark(std::move(text));
}

std::vector<std::string_view> split_documents(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> documents;
  if (separator.empty()) {
    if (!text.empty()) documents.push_back(text);
    return documents;
  }
  const auto add = [&](size_t begin, size_t end) {
    const auto document = without_line_end(text.substr(begin, end - begin));
    if (!document.empty()) documents.push_back(document);
  };
  size_t begin = 0;
  for (size_t line = 0; line < text.size();) {
    const size_t line_feed = text.find('\n', line);
    const size_t next = line_feed == std::string_view::npos ? text.size() : line_feed + 1;
    if (without_line_end(text.substr(line, next - line)) == separator) {
      add(begin, line);
      begin = next;
    }
    line = next;
  }
  add(begin, text.size());
  return documents;
}

}  // namespace scantling
