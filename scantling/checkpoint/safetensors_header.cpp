// The JSON is read by events, so nothing is built that the rules would refuse: depth, keys and types are judged as they come, and
// a duplicate key is seen (a JSON tree would silently keep the last one).
#include "scantling/checkpoint/safetensors_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "scantling/checkpoint/input_file.h"
#include "scantling/core/text.h"

namespace scantling {
namespace {

using Json = nlohmann::json;
constexpr size_t max_rank = 64;

// Receives the events of the parser and fills a header. Levels: 0 outside, 1 the object of names, 2 one tensor or the metadata,
// 3 an array of a tensor. Values of keys the format does not know are skipped, as the reference implementation does.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  HeaderReader(const std::string& path, SafetensorsHeader& header) : path_(path), header_(header) {}

  bool key(string_t& key) override {
    if (skipping()) return true;
    key_ = key;
    if (level_ == 1) {
      if (!names_.insert(key).second) fail(fmt::format("the key {} occurs twice", in_quotes(key)), "Keys must be unique");
      name_ = key;
    } else if (!fields_.insert(key).second) {
      fail(fmt::format("the key {} occurs twice", in_quotes(key)), "Keys must be unique");
    }
    return true;
  }

  bool start_object(size_t) override {
    if (ignored()) return skip(+1);
    if (level_ == 2 || level_ == 3) fail(fmt::format("{} is an object", field()), wanted());
    if (++level_ == 2) {
      fields_.clear();
      tensor_ = TensorInfo{name_};
      in_metadata_ = name_ == "__metadata__";
    }
    return true;
  }

  bool end_object() override {
    if (skipping()) return skip(-1);
    if (--level_ == 1 && !in_metadata_) finish_tensor();
    return true;
  }

  bool start_array(size_t) override {
    if (ignored()) return skip(+1);
    if (level_ == 0) fail("the header is an array", "It must be a JSON object");
    if (level_ != 2 || in_metadata_ || key_ == "dtype") fail(fmt::format("{} is an array", field()), wanted());
    ++level_;
    numbers_.clear();
    return true;
  }

  bool end_array() override {
    if (skipping()) return skip(-1);
    --level_;
    if (key_ == "shape") {
      tensor_.shape = numbers_;
    } else {
      if (numbers_.size() != 2) fail(fmt::format("{} has {} numbers", field(), numbers_.size()), "It must be [begin, end]");
      tensor_.begin_byte = numbers_[0];
      tensor_.end_byte = numbers_[1];
    }
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (ignored()) return true;
    if (level_ != 3) return wrong(fmt::format("{}", value));
    if (value > static_cast<uint64_t>(INT64_MAX)) fail(fmt::format("{} has the number {}", field(), value), "Numbers must be below 2^63");
    if (numbers_.size() == max_rank) fail(fmt::format("{} has more than {} numbers", field(), max_rank), "Shapes must be shorter");
    numbers_.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(string_t& value) override {
    if (ignored()) return true;
    if (in_metadata_ && level_ == 2) {
      header_.metadata[key_] = value;
      return true;
    }
    if (level_ != 2 || key_ != "dtype") return wrong(in_quotes(value));
    const auto dtype = safetensors_dtype(value);
    if (!dtype) fail(fmt::format("dtype is {}", in_quotes(value)), "It must be one of " + known_types());
    tensor_.dtype = *dtype;
    return true;
  }

  bool number_integer(number_integer_t value) override { return ignored() || wrong(fmt::format("{}", value)); }
  bool number_float(number_float_t, const string_t& text) override { return ignored() || wrong(text); }
  bool boolean(bool value) override { return ignored() || wrong(value ? "true" : "false"); }
  bool null() override { return ignored() || wrong("null"); }
  bool binary(binary_t&) override { return wrong("binary"); }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    refuse(path_, fmt::format("the header is not valid JSON (at byte {} of it). It must be one JSON object. Fetch or write the file again.",
                              position));
  }

 private:
  [[noreturn]] void fail(const std::string& fact, const std::string& rule) const {
    const std::string place = name_.empty() ? "" : in_metadata_ ? "__metadata__: " : fmt::format("tensor {}: ", in_quotes(name_));
    refuse(path_, fmt::format("{}{}. {}. The file is damaged or of another kind; fetch or write it again.", place, fact, rule));
  }
  bool wrong(const std::string& value) const {
    fail(level_ == 0 ? fmt::format("the header is {}", value) : fmt::format("{} is {}", level_ == 1 ? "the entry" : field(), value),
         wanted());
  }
  std::string field() const { return level_ == 1 ? "the entry" : fmt::format("{}", in_quotes(key_)); }
  std::string wanted() const {
    if (level_ == 0) return "It must be a JSON object";
    if (level_ == 1) return "It must be an object with dtype, shape and data_offsets";
    if (in_metadata_) return "Values of __metadata__ must be strings";
    return key_ == "dtype" ? "It must be the name of a type" : "It must be an array of whole numbers that are not negative";
  }
  bool unknown_field() const { return level_ == 2 && !in_metadata_ && key_ != "dtype" && key_ != "shape" && key_ != "data_offsets"; }
  bool skipping() const { return skipped_levels_ > 0; }
  bool ignored() const { return skipping() || unknown_field(); }
  bool skip(int step) {
    skipped_levels_ += step;
    return true;
  }

  void finish_tensor() {
    for (const auto* needed : {"dtype", "shape", "data_offsets"}) {
      if (!fields_.contains(needed)) fail(fmt::format("{} is missing", needed), "A tensor needs dtype, shape and data_offsets");
    }
    if (tensor_.end_byte < tensor_.begin_byte) {
      fail(fmt::format("data_offsets are [{}, {}]", tensor_.begin_byte, tensor_.end_byte), "The end must not lie before the begin");
    }
    const int64_t elements = count_elements(tensor_.shape);
    int64_t bytes = 0;
    if (elements < 0 || __builtin_mul_overflow(elements, size_of(tensor_.dtype), &bytes)) {
      fail(fmt::format("shape [{}] overflows 64 bits", fmt::join(tensor_.shape, ", ")), "A tensor must fit into its file");
    }
    if (bytes != tensor_.bytes()) {
      fail(fmt::format("data_offsets cover {} bytes, shape [{}] of {} needs {}", tensor_.bytes(), fmt::join(tensor_.shape, ", "),
                       safetensors_name_of(tensor_.dtype), bytes),
           "They must agree");
    }
    header_.tensors.push_back(std::move(tensor_));
  }

  static std::string known_types() {
    std::vector<std::string_view> names;
    for (int type = 0; type <= static_cast<int>(DType::boolean); ++type) names.push_back(safetensors_name_of(static_cast<DType>(type)));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  const std::string& path_;
  SafetensorsHeader& header_;
  int level_ = 0;
  int skipped_levels_ = 0;
  bool in_metadata_ = false;
  std::string name_, key_;
  TensorInfo tensor_;
  std::vector<int64_t> numbers_;
  std::unordered_set<std::string> names_, fields_;
};

// Every byte of the data section belongs to exactly one tensor.
void check_ranges(const std::string& path, SafetensorsHeader& header, int64_t data_bytes) {
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::pair(a.begin_byte, a.end_byte) < std::pair(b.begin_byte, b.end_byte);
  });
  int64_t end = 0;
  for (const auto& tensor : header.tensors) {
    if (tensor.begin_byte != end) {
      refuse(path,
             fmt::format("tensor {}: data_offsets begin at {}, the tensor before ends at {}. Tensors must neither overlap nor leave a "
                         "hole. The file is damaged; fetch or write it again.",
                         in_quotes(tensor.name), tensor.begin_byte, end));
    }
    end = tensor.end_byte;
    if (end > data_bytes) {
      refuse(path,
             fmt::format("tensor {}: data_offsets end at {}, the data has {} bytes. Tensors must lie inside the file. The file is cut "
                         "short; fetch or write it again.",
                         in_quotes(tensor.name), end, data_bytes));
    }
  }
  if (end != data_bytes) {
    refuse(path,
           fmt::format("data_offsets cover {} bytes, the data has {}. Every byte must belong to a tensor. The file is damaged; fetch or "
                       "write it again.",
                       end, data_bytes));
  }
}

}  // namespace

int64_t count_elements(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return -1;
  }
  return count;
}

SafetensorsHeader parse_safetensors_header(const std::string& path, std::span<const std::byte> front, int64_t file_bytes) {
  constexpr int64_t length_bytes = 8;
  if (file_bytes < length_bytes || front.size() < static_cast<size_t>(length_bytes)) {
    refuse(path, fmt::format("has {} bytes. A safetensors file begins with an 8-byte header length. Fetch or write it again.", file_bytes));
  }
  uint64_t length = 0;
  std::memcpy(&length, front.data(), length_bytes);
  if (length > static_cast<uint64_t>(max_safetensors_header_bytes)) {
    refuse(path, fmt::format("header length is {}. It must be at most {}. This is no safetensors file, or it is damaged.", length,
                             max_safetensors_header_bytes));
  }
  const auto header_bytes = static_cast<int64_t>(length);
  if (header_bytes > file_bytes - length_bytes || length > front.size() - length_bytes) {
    refuse(path, fmt::format("header length is {}, the file has {} bytes after it. The header must lie inside the file. The file is cut "
                             "short; fetch or write it again.",
                             length, file_bytes - length_bytes));
  }
  const auto* text = reinterpret_cast<const char*>(front.data()) + length_bytes;
  const std::string_view json(text, length);
  if (!is_utf8(json)) refuse(path, "the header is not valid UTF-8. It must be a JSON object in UTF-8. Fetch or write the file again.");
  if (json.empty() || json[0] != '{')
    refuse(path, "the header is not a JSON object. It must begin with '{'. Fetch or write the file again.");
  if (json.find('\0') != json.npos) refuse(path, "the header is not valid JSON (a zero byte in it). Fetch or write the file again.");
  SafetensorsHeader header;
  header.data_begin = length_bytes + header_bytes;
  HeaderReader reader(path, header);
  Json::sax_parse(json.begin(), json.end(), &reader);
  check_ranges(path, header, file_bytes - header.data_begin);
  return header;
}

std::string format_safetensors_header(const SafetensorsHeader& header) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) json["__metadata__"] = header.metadata;
  std::string text = json.dump();
  text.pop_back();
  for (const auto& tensor : header.tensors) {
    const nlohmann::ordered_json entry = {
        {"dtype", safetensors_name_of(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {tensor.begin_byte, tensor.end_byte}}};
    if (text.size() > 1) text += ',';
    text += nlohmann::ordered_json(tensor.name).dump() + ":" + entry.dump();
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t length = text.size();
  std::string front(sizeof length, '\0');
  std::memcpy(front.data(), &length, sizeof length);
  return front + text;
}

}  // namespace scantling
