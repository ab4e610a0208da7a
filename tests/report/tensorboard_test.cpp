#include "scantling/report/tensorboard.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "scantling/core/error.h"

namespace scantling {
namespace {

// CRC-32C bit by bit, most significant polynomial form on reflected bytes: a second way to the same number.
uint32_t crc32c(const std::string& bytes) {
  uint32_t crc = 0xffffffffU;
  for (const char byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool odd = ((crc ^ (static_cast<uint8_t>(byte) >> bit)) & 1U) != 0;
      crc = odd ? (crc >> 1) ^ 0x82f63b78U : crc >> 1;
    }
  }
  return crc ^ 0xffffffffU;
}

uint32_t unmask(uint32_t masked) { return std::rotl(masked - 0xa282ead8U, 15); }

template <typename T>
T fixed(const std::string& bytes, size_t at) {
  T value{};
  if (at + sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

// The records of a file; fails the test where a length or checksum is wrong.
std::vector<std::string> records(const std::filesystem::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string bytes = content.str();
  std::vector<std::string> found;
  for (size_t at = 0; at < bytes.size();) {
    const auto length = fixed<uint64_t>(bytes, at);
    EXPECT_EQ(unmask(fixed<uint32_t>(bytes, at + 8)), crc32c(bytes.substr(at, 8))) << "length at " << at;
    found.push_back(bytes.substr(at + 12, length));
    EXPECT_EQ(found.back().size(), length) << "record at " << at;
    EXPECT_EQ(unmask(fixed<uint32_t>(bytes, at + 12 + length)), crc32c(found.back())) << "record at " << at;
    at += length + 16;
  }
  return found;
}

std::filesystem::path fresh_folder(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / (name + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(TensorBoard, ChecksumIsCastagnolis) { EXPECT_EQ(crc32c("123456789"), 0xe3069283U); }

TEST(TensorBoard, FileStartsWithItsVersionAndTheFirstStep) {
  const auto folder = fresh_folder("tensorboard_start");
  const TensorBoardWriter writer(folder, 7);
  EXPECT_EQ(writer.path().filename().string().find("events.out.tfevents."), 0U) << writer.path();
  const auto found = records(writer.path());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].substr(9), std::string("\x10\x00\x1a\x0d", 4) + "brain.Event:2");
  EXPECT_EQ(found[1].substr(9), std::string("\x10\x07\x3a\x02\x08\x01", 6));
  std::filesystem::remove_all(folder);
}

TEST(TensorBoard, ScalarIsAnEventWithTagStepAndValue) {
  const auto folder = fresh_folder("tensorboard_scalar");
  TensorBoardWriter writer(folder, 1);
  writer.scalar("loss", 2.5, 300);
  writer.scalar(std::string(200, 'x'), -1, 0);
  writer.flush();
  const auto found = records(writer.path());
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[2][0], 0x09);  // wall time, a double
  EXPECT_GT(fixed<double>(found[2], 1), 1.6e9);
  std::string expected("\x10\xac\x02\x2a\x0d\x0a\x0b\x0a\x04loss\x15", 14);
  expected += std::string("\x00\x00\x20\x40", 4);
  EXPECT_EQ(found[2].substr(9), expected);
  EXPECT_EQ(found[3].size(), 9U + 2 + 3 + 3 + 3 + 200 + 5) << "lengths above 127 take two bytes";
  std::filesystem::remove_all(folder);
}

TEST(TensorBoard, UnwritableFolderIsAnError) { EXPECT_THROW(TensorBoardWriter("/absent/folder", 1), Error); }

}  // namespace
}  // namespace scantling
