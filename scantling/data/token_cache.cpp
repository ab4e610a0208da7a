// File: Header, then the arrays and the notices, each at a multiple of 8 bytes, in the order of `parts_of`. Numbers are this machine's: the
// file never leaves it. The checksum (XXH3) covers all of the file, with a checksum of 0 in the header.
#include "scantling/data/token_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace scantling {
namespace {

constexpr uint64_t cache_magic = 0x31304B54'4C544353;  // "SCTLTK01" as bytes; the last two are the version of this layout
constexpr size_t num_parts = 7;
constexpr std::uintmax_t whole_file_bytes = 64 << 20;
constexpr std::uintmax_t edge_bytes = 1 << 20;

struct Header {
  uint64_t magic = cache_magic;
  uint64_t fingerprint = 0;
  uint64_t checksum = 0;
  std::array<uint64_t, num_parts> counts{};  // elements of each part
};

constexpr std::array<uint64_t, num_parts> element_bytes = {8, 8, 4, 4, 4, 4, 1};

uint64_t padded(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

struct Mapping {
  const std::byte* data = nullptr;
  size_t size = 0;

  ~Mapping() {
    if (data != nullptr) ::munmap(const_cast<std::byte*>(data), size);
  }
};

std::shared_ptr<const Mapping> map_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return nullptr;
  struct stat facts {};
  auto mapping = std::make_shared<Mapping>();
  if (::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size >= static_cast<off_t>(sizeof(Header))) {
    void* data = ::mmap(nullptr, static_cast<size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (data != MAP_FAILED) {
      mapping->data = static_cast<const std::byte*>(data);
      mapping->size = static_cast<size_t>(facts.st_size);
    }
  }
  ::close(file);
  return mapping->data == nullptr ? nullptr : mapping;
}

template <typename Element>
std::span<const Element> part(const std::byte*& place, uint64_t count) {
  const std::span<const Element> view{reinterpret_cast<const Element*>(place), count};
  place += padded(view.size_bytes());
  return view;
}

std::string joined(const std::vector<std::string>& notices) {
  std::string text;
  for (const auto& notice : notices) text += notice + '\0';
  return text;
}

std::vector<std::string> separated(std::string_view text) {
  std::vector<std::string> notices;
  for (size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
    notices.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return notices;
}

using Parts = std::array<std::span<const std::byte>, num_parts>;

Parts parts_of(const RowViews& rows, std::string_view notices) {
  return {std::as_bytes(rows.row_offsets),  std::as_bytes(rows.start_offsets), std::as_bytes(rows.starts),
          std::as_bytes(rows.label_tokens), std::as_bytes(rows.ids),           std::as_bytes(rows.labels),
          std::as_bytes(std::span(notices))};
}

// Gives the bytes of the file, header first, to `take(const void*, size_t)`.
template <typename Take>
void for_each_piece(const Header& header, const Parts& parts, Take take) {
  constexpr std::array<char, 8> padding{};
  take(&header, sizeof(header));
  for (const auto& bytes : parts) {
    take(bytes.data(), bytes.size());
    take(padding.data(), padded(bytes.size()) - bytes.size());
  }
}

class Checksum {
 public:
  Checksum() { XXH3_64bits_reset(state_.get()); }
  void add(const void* bytes, size_t size) { XXH3_64bits_update(state_.get(), bytes, size); }
  uint64_t value() const { return XXH3_64bits_digest(state_.get()); }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_{XXH3_createState(), XXH3_freeState};
};

Header header_of(uint64_t fingerprint, const Parts& parts) {
  Header header;
  header.fingerprint = fingerprint;
  for (size_t i = 0; i < num_parts; ++i) header.counts[i] = parts[i].size() / element_bytes[i];
  Checksum checksum;
  for_each_piece(header, parts, [&](const void* bytes, size_t size) { checksum.add(bytes, size); });
  header.checksum = checksum.value();
  return header;
}

bool is_whole(const Mapping& mapping, Header header) {
  const uint64_t promised = std::exchange(header.checksum, 0);
  Checksum checksum;
  checksum.add(&header, sizeof(header));
  checksum.add(mapping.data + sizeof(header), mapping.size - sizeof(header));
  return checksum.value() == promised;
}

// The arrays in `mapping` as its header counts them; none if they do not fill the file exactly.
std::optional<CachedRows> views_into(const std::shared_ptr<const Mapping>& mapping, const Header& header) {
  uint64_t left = mapping->size - sizeof(header);
  for (size_t i = 0; i < num_parts; ++i) {
    if (header.counts[i] > left / element_bytes[i] || padded(header.counts[i] * element_bytes[i]) > left) return std::nullopt;
    left -= padded(header.counts[i] * element_bytes[i]);
  }
  if (left != 0) return std::nullopt;
  const std::byte* place = mapping->data + sizeof(header);
  CachedRows cached;
  auto& rows = cached.rows;
  rows.row_offsets = part<int64_t>(place, header.counts[0]);
  rows.start_offsets = part<int64_t>(place, header.counts[1]);
  rows.starts = part<int32_t>(place, header.counts[2]);
  rows.label_tokens = part<int32_t>(place, header.counts[3]);
  rows.ids = part<int32_t>(place, header.counts[4]);
  rows.labels = part<int32_t>(place, header.counts[5]);
  const auto notices = part<char>(place, header.counts[6]);
  cached.notices = separated({notices.data(), notices.size()});
  rows.storage = mapping;
  return cached;
}

// An empty file of its own beside `path`, named like it; empty if none can be made.
std::string make_file_beside(const std::string& path) {
  std::string name = path + ".XXXXXX";
  const int file = ::mkstemp(name.data());
  if (file < 0) return {};
  ::close(file);
  return name;
}

}  // namespace

RowViews views_of(RowArrays arrays) {
  const auto owned = std::make_shared<const RowArrays>(std::move(arrays));
  return {owned->row_offsets, owned->start_offsets, owned->starts, owned->label_tokens, owned->ids, owned->labels, owned};
}

std::optional<CachedRows> load_token_cache(const std::string& path, uint64_t fingerprint) {
  const auto mapping = map_file(path);
  if (mapping == nullptr) return std::nullopt;
  Header header;
  std::memcpy(&header, mapping->data, sizeof(header));
  if (header.magic != cache_magic || header.fingerprint != fingerprint) return std::nullopt;
  if (!is_whole(*mapping, header)) return std::nullopt;
  return views_into(mapping, header);
}

std::optional<std::string> store_token_cache(const std::string& path, uint64_t fingerprint, const CachedRows& cached) {
  std::error_code fault;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), fault);
  if (fault) return fault.message();
  const std::string beside = make_file_beside(path);
  if (beside.empty()) return std::strerror(errno);
  const std::string notices = joined(cached.notices);
  const Parts parts = parts_of(cached.rows, notices);
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  for_each_piece(header_of(fingerprint, parts), parts,
                 [&](const void* bytes, size_t size) { file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size)); });
  file.close();
  std::string reason = file ? "" : std::strerror(errno);
  if (reason.empty()) {
    std::filesystem::rename(beside, path, fault);
    if (!fault) return std::nullopt;
    reason = fault.message();
  }
  std::filesystem::remove(beside, fault);
  return reason;
}

uint64_t mix_fingerprint(uint64_t fingerprint, std::string_view bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), fingerprint);
}

uint64_t fingerprint_of_file(const std::string& path) {
  std::error_code fault;
  const auto size = std::filesystem::file_size(path, fault);
  if (fault) return 0;
  std::ifstream file(path, std::ios::binary);
  const auto read = [&](std::uintmax_t begin, std::uintmax_t length) {
    std::string bytes(length, '\0');
    file.seekg(static_cast<std::streamoff>(begin));
    file.read(bytes.data(), static_cast<std::streamsize>(length));
    return bytes;
  };
  if (size <= whole_file_bytes) return mix_fingerprint(size, read(0, size));
  const auto changed = std::filesystem::last_write_time(path, fault).time_since_epoch().count();
  const uint64_t edges = mix_fingerprint(mix_fingerprint(size, read(0, edge_bytes)), read(size - edge_bytes, edge_bytes));
  return mix_fingerprint(edges, std::to_string(changed));
}

}  // namespace scantling
