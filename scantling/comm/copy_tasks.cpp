// Operations that only move elements. Every rank fills its own buffers; each byte is written by exactly one rank, also when several
// ranks gather into one shared buffer: the source's own rank writes its part if it shares the buffer, else the first that does.
#include "scantling/comm/copy_tasks.h"

#include <cstddef>
#include <cstring>
#include <numeric>

namespace scantling {
namespace {

const std::byte* bytes(const void* buffer) { return static_cast<const std::byte*>(buffer); }
std::byte* bytes(void* buffer) { return static_cast<std::byte*>(buffer); }

void copy(std::byte* to, const std::byte* from, int64_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, static_cast<size_t>(bytes));
}

int64_t count_before(const std::vector<int64_t>& counts, size_t rank) {
  return std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(rank), int64_t{0});
}

class GatherTask : public Task {
 public:
  GatherTask(Rank rank, std::vector<GatherPiece> pieces, DType dtype)
      : rank_(static_cast<size_t>(rank)), pieces_(std::move(pieces)), element_bytes_(size_of(dtype)) {}

  void run(int /*round*/, All tasks) override {
    for (size_t piece = 0; piece < pieces_.size(); ++piece) {
      const auto& counts = pieces_[piece].counts;
      int64_t begin = 0;
      for (size_t source = 0; source < counts.size(); begin += counts[source++]) {
        if (writer(tasks, piece, source) != rank_) continue;
        copy(bytes(pieces_[piece].whole) + begin * element_bytes_, bytes(of(tasks, source).pieces_[piece].mine),
             counts[source] * element_bytes_);
      }
    }
  }

 private:
  static const GatherTask& of(All tasks, size_t rank) { return static_cast<const GatherTask&>(*tasks[rank]); }

  // Who writes the part of `source` into this rank's whole.
  size_t writer(All tasks, size_t piece, size_t source) const {
    const auto shares = [&](size_t rank) { return of(tasks, rank).pieces_[piece].whole == pieces_[piece].whole; };
    if (shares(source)) return source;
    size_t first = 0;
    while (!shares(first)) ++first;
    return first;
  }

  const size_t rank_;
  const std::vector<GatherPiece> pieces_;
  const int64_t element_bytes_;
};

class AllToAllTask : public Task {
 public:
  AllToAllTask(Rank rank, const void* send, std::vector<int64_t> send_counts, void* recv, std::vector<int64_t> recv_counts, DType dtype)
      : rank_(static_cast<size_t>(rank)),
        send_(bytes(send)),
        recv_(bytes(recv)),
        send_counts_(std::move(send_counts)),
        recv_counts_(std::move(recv_counts)),
        element_bytes_(size_of(dtype)) {}

  void run(int /*round*/, All tasks) override {
    std::byte* to = recv_;
    for (size_t source = 0; source < recv_counts_.size(); ++source) {
      const auto& peer = static_cast<const AllToAllTask&>(*tasks[source]);
      const int64_t length = recv_counts_[source] * element_bytes_;
      copy(to, peer.send_ + count_before(peer.send_counts_, rank_) * element_bytes_, length);
      to += length;
    }
  }

 private:
  const size_t rank_;
  const std::byte* const send_;
  std::byte* const recv_;
  const std::vector<int64_t> send_counts_;
  const std::vector<int64_t> recv_counts_;
  const int64_t element_bytes_;
};

// Broadcast, recv, send and barrier: the member `source` of the channel has the bytes, this one takes them.
class TakeTask : public Task {
 public:
  TakeTask(size_t source, void* to, const void* from, int64_t bytes)
      : source_(source), to_(bytes_of(to)), from_(bytes_of(from)), bytes_(bytes) {}

  void run(int /*round*/, All tasks) override { copy(to_, static_cast<const TakeTask&>(*tasks[source_]).from_, bytes_); }

 private:
  static const std::byte* bytes_of(const void* buffer) { return bytes(buffer); }
  static std::byte* bytes_of(void* buffer) { return bytes(buffer); }

  const size_t source_;
  std::byte* const to_;
  const std::byte* const from_;
  const int64_t bytes_;  // 0 where nothing is taken
};

}  // namespace

std::unique_ptr<Task> make_gather_task(Rank rank, std::vector<GatherPiece> pieces, DType dtype) {
  return std::make_unique<GatherTask>(rank, std::move(pieces), dtype);
}

std::unique_ptr<Task> make_all_to_all_task(Rank rank, const void* send, std::vector<int64_t> send_counts, void* recv,
                                           std::vector<int64_t> recv_counts, DType dtype) {
  return std::make_unique<AllToAllTask>(rank, send, std::move(send_counts), recv, std::move(recv_counts), dtype);
}

std::unique_ptr<Task> make_broadcast_task(Rank root, void* buffer, int64_t count, DType dtype) {
  return std::make_unique<TakeTask>(static_cast<size_t>(root), buffer, buffer, count * size_of(dtype));
}

std::unique_ptr<Task> make_send_task(const void* buffer) { return std::make_unique<TakeTask>(0, nullptr, buffer, 0); }

std::unique_ptr<Task> make_recv_task(void* buffer, int64_t count, DType dtype) {
  return std::make_unique<TakeTask>(0, buffer, nullptr, count * size_of(dtype));
}

std::unique_ptr<Task> make_barrier_task() { return std::make_unique<TakeTask>(0, nullptr, nullptr, 0); }

}  // namespace scantling
