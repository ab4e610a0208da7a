// Operations that add. Contributions are read where they lie, a cache-sized chunk at a time, in rank order.
#include "scantling/comm/reduce_tasks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <numeric>

#include "scantling/comm/reduce_kernels.h"

namespace scantling {
namespace {

constexpr int64_t chunk_floats = 16384;
constexpr int64_t chunk_bytes = chunk_floats * static_cast<int64_t>(sizeof(float));

class ReduceScatterTask : public Task {
 public:
  ReduceScatterTask(Rank rank, std::vector<ReducePiece> pieces, DType dtype)
      : rank_(static_cast<size_t>(rank)), pieces_(std::move(pieces)), dtype_(dtype) {}

  void run(int /*round*/, All tasks) override {
    int64_t longest = 0;
    for (const ReducePiece& piece : pieces_) longest = std::max(longest, std::min(chunk_of(piece), piece.counts[rank_]));
    const auto sums = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(longest));
    for (size_t place = 0; place < pieces_.size(); ++place) {
      const int64_t count = pieces_[place].counts[rank_];
      const int64_t chunk = chunk_of(pieces_[place]);
      for (int64_t begin = 0; begin < count; begin += chunk) reduce_chunk(tasks, place, begin, std::min(chunk, count - begin), sums.get());
    }
  }

  bool calls_back() const override {
    return std::any_of(pieces_.begin(), pieces_.end(), [](const ReducePiece& piece) { return piece.finished != nullptr; });
  }

 private:
  static int64_t chunk_of(const ReducePiece& piece) { return std::max<int64_t>(1, chunk_floats / piece.granularity) * piece.granularity; }

  // Where this rank's part begins in a contribution.
  int64_t part_begin(const ReducePiece& contribution) const {
    if (!contribution.begins.empty()) return contribution.begins[rank_];
    return std::accumulate(contribution.counts.begin(), contribution.counts.begin() + static_cast<std::ptrdiff_t>(rank_), int64_t{0});
  }

  // `out` may lie inside `whole`, so the sums are made beside both.
  void reduce_chunk(All tasks, size_t place, int64_t begin, int64_t count, float* sums) const {
    const ReducePiece& piece = pieces_[place];
    if (piece.accumulate) {
      std::copy_n(piece.out + begin, count, sums);
    } else {
      std::fill_n(sums, count, 0.0F);
    }
    for (const auto& task : tasks) {
      const ReducePiece& contribution = static_cast<const ReduceScatterTask&>(*task).pieces_[place];
      const auto* whole = static_cast<const std::byte*>(contribution.whole);
      add_to_sums(sums, whole + (part_begin(contribution) + begin) * size_of(dtype_), dtype_, count);
    }
    if (piece.out != nullptr) std::copy_n(sums, count, piece.out + begin);
    if (piece.finished) piece.finished(begin, sums, count);
  }

  const size_t rank_;
  const std::vector<ReducePiece> pieces_;
  const DType dtype_;
};

class AllReduceTask : public Task {
 public:
  AllReduceTask(void* buffer, int64_t count, DType dtype, ReduceOperation operation)
      : buffer_(static_cast<std::byte*>(buffer)), count_(count), dtype_(dtype), operation_(operation), element_bytes_(size_of(dtype)) {}

 protected:
  static std::byte* buffer_of(const std::unique_ptr<Task>& task) { return static_cast<const AllReduceTask&>(*task).buffer_; }

  // Combines elements [begin, begin + count) of all ranks into `into`, which is none of their buffers.
  void combine_all(All tasks, int64_t begin, int64_t count, std::byte* into) const {
    const int64_t offset = begin * element_bytes_;
    std::memcpy(into, buffer_of(tasks.front()) + offset, static_cast<size_t>(count * element_bytes_));
    for (const auto& task : tasks.subspan(1)) combine(into, buffer_of(task) + offset, count, dtype_, operation_);
  }

  std::byte* const buffer_;
  const int64_t count_;
  const DType dtype_;
  const ReduceOperation operation_;
  const int64_t element_bytes_;
};

// Few elements: every rank combines all of them aside, and overwrites its buffer when nobody reads it any more.
class SmallAllReduceTask : public AllReduceTask {
 public:
  using AllReduceTask::AllReduceTask;

  void run(int /*round*/, All tasks) override {
    result_.resize(static_cast<size_t>(count_ * element_bytes_));
    if (count_ > 0) combine_all(tasks, 0, count_, result_.data());
  }

  void finish() override {
    if (count_ > 0) std::memcpy(buffer_, result_.data(), result_.size());
  }

 private:
  std::vector<std::byte> result_;
};

// Many elements: first every rank combines its slice into its own buffer, where no other rank reads it in this round; then each
// copies the slices of the others.
class LargeAllReduceTask : public AllReduceTask {
 public:
  LargeAllReduceTask(Rank rank, int size, void* buffer, int64_t count, DType dtype, ReduceOperation operation)
      : AllReduceTask(buffer, count, dtype, operation), rank_(rank), size_(size) {}

  int rounds() const override { return 2; }

  void run(int round, All tasks) override {
    if (round == 0) {
      combine_slice(tasks);
      return;
    }
    for (Rank step = 1; step < size_; ++step) copy_slice(tasks, (rank_ + step) % size_);
  }

 private:
  int64_t slice_begin(Rank rank) const { return count_ / size_ * rank + std::min<int64_t>(rank, count_ % size_); }

  void combine_slice(All tasks) const {
    alignas(64) std::array<std::byte, chunk_bytes> combined;
    const int64_t chunk = chunk_bytes / element_bytes_;
    const int64_t end = slice_begin(rank_ + 1);
    for (int64_t begin = slice_begin(rank_); begin < end; begin += chunk) {
      const int64_t count = std::min(chunk, end - begin);
      combine_all(tasks, begin, count, combined.data());
      std::memcpy(buffer_ + begin * element_bytes_, combined.data(), static_cast<size_t>(count * element_bytes_));
    }
  }

  void copy_slice(All tasks, Rank source) const {
    const int64_t begin = slice_begin(source) * element_bytes_;
    const int64_t end = slice_begin(source + 1) * element_bytes_;
    std::memcpy(buffer_ + begin, buffer_of(tasks[static_cast<size_t>(source)]) + begin, static_cast<size_t>(end - begin));
  }

  const Rank rank_;
  const int size_;
};

}  // namespace

std::unique_ptr<Task> make_reduce_scatter_task(Rank rank, std::vector<ReducePiece> pieces, DType dtype) {
  return std::make_unique<ReduceScatterTask>(rank, std::move(pieces), dtype);
}

std::unique_ptr<Task> make_all_reduce_task(Rank rank, int size, void* buffer, int64_t count, DType dtype, ReduceOperation operation) {
  if (count * size_of(dtype) <= chunk_bytes) return std::make_unique<SmallAllReduceTask>(buffer, count, dtype, operation);
  return std::make_unique<LargeAllReduceTask>(rank, size, buffer, count, dtype, operation);
}

}  // namespace scantling
