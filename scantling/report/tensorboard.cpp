// Fields by number. Event: 1 wall_time, 2 step, 3 file_version, 5 summary, 7 session_log. Summary: 1 value {1 tag, 2 simple_value}.
// SessionLog: 1 status, where START is 1.
#include "scantling/report/tensorboard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <string>

#include "scantling/core/error.h"

namespace scantling {
namespace {

constexpr std::array<uint32_t, 256> crc_table = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);  // Castagnoli, reflected
    table[byte] = crc;
  }
  return table;
}();

uint32_t masked_crc32c(std::string_view bytes) {
  uint32_t crc = ~0U;
  for (const char byte : bytes) crc = crc_table[(crc ^ static_cast<uint8_t>(byte)) & 0xffU] ^ (crc >> 8);
  return std::rotr(~crc, 15) + 0xa282ead8U;
}

void put_fixed(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80U);
  out += static_cast<char>(value);
}

void put_tag(std::string& out, uint32_t field, uint32_t wire_type) { put_varint(out, field << 3 | wire_type); }

void put_bytes_field(std::string& out, uint32_t field, std::string_view bytes) {
  put_tag(out, field, 2);
  put_varint(out, bytes.size());
  out += bytes;
}

std::string event_now(int64_t step) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  std::string event;
  put_tag(event, 1, 1);
  put_fixed(event, std::bit_cast<uint64_t>(now.count()), 8);
  put_tag(event, 2, 0);
  put_varint(event, static_cast<uint64_t>(step));
  return event;
}

std::filesystem::path file_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"localhost"};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  return fmt::format("events.out.tfevents.{}.{}", seconds.count(), host.data());
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const std::filesystem::path& folder, int64_t first_step)
    : path_(folder / file_name()), file_(path_, std::ios::binary | std::ios::app) {
  std::string version = event_now(0);
  put_bytes_field(version, 3, "brain.Event:2");
  record(version);
  std::string start = event_now(first_step);
  put_bytes_field(start, 7, std::string("\x08\x01", 2));
  record(start);
  flush();
}

void TensorBoardWriter::scalar(std::string_view tag, double value, int64_t step) {
  std::string scalar;
  put_bytes_field(scalar, 1, tag);
  put_tag(scalar, 2, 5);
  put_fixed(scalar, std::bit_cast<uint32_t>(static_cast<float>(value)), 4);
  std::string summary;
  put_bytes_field(summary, 1, scalar);
  std::string event = event_now(step);
  put_bytes_field(event, 5, summary);
  record(event);
}

void TensorBoardWriter::flush() {
  file_.flush();
  if (file_) return;
  throw Error(fmt::format("Cannot write {}. TensorBoard's numbers go there. Free space or rights, or use another train.output_dir.",
                          path_.string()));
}

void TensorBoardWriter::record(std::string_view event) {
  std::string length;
  put_fixed(length, event.size(), 8);
  std::string framed = length;
  put_fixed(framed, masked_crc32c(length), 4);
  framed += event;
  put_fixed(framed, masked_crc32c(event), 4);
  file_.write(framed.data(), static_cast<std::streamsize>(framed.size()));
}

}  // namespace scantling
