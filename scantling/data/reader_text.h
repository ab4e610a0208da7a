// Text files as people have them: a byte-order mark is dropped, everything else stays as it is, white space and line ends included.
// What is not UTF-8 is refused with the place, since a wrong encoding would train on the wrong characters without a word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace scantling {

// The bytes of a file without a leading UTF-8 byte-order mark. Throws DataError if it cannot be read.
std::string read_data_file(const std::string& path);

// As read_data_file; throws DataError with the offset in the file of the first byte that is not UTF-8.
std::string read_text_file(const std::string& path);

// Views into `text`, one per document: all of it, or what lies between lines equal to `separator` (CRLF accepted). A document between
// separators has no final line end; documents without a byte are left out.
std::vector<std::string_view> split_documents(std::string_view text, std::string_view separator);

}  // namespace scantling
