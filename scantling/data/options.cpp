#include "scantling/data/options.h"

#include <fmt/format.h>

namespace scantling {

void DataOptions::validate(Faults& faults) const {
  if (max_length < 2)
    faults.add(fmt::format("data.max_length is {}. A row needs at least 2 tokens to have a label. Use 2 or more.", max_length));
  if (!document_separator.empty() && format != DataFormat::text)
    faults.add("data.document_separator is given. Only the format text has documents to separate. Remove it, or set data.format to text.");
  if (document_separator.find('\n') != std::string::npos)
    faults.add("data.document_separator has a line break. It is a line of its own. Give the text of that line.");
  if (packing_dense && !packing) faults.add("data.packing is off but dense. Dense is a way of packing. Set packing and packing_dense.");
}

}  // namespace scantling
