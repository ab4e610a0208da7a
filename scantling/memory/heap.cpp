#include "scantling/memory/heap.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace scantling {
namespace {

constexpr size_t smallest_kept = 4096, huge_page = size_t{2} << 20;

size_t class_of(size_t bytes) {
  const size_t step = std::max<size_t>(4096, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

struct Pool {
  std::mutex mutex;
  std::unordered_map<size_t, std::vector<void*>> free_blocks;
};

Pool& pool() {
  static auto* instance = new Pool;  // never destroyed: tensors with static lifetime may outlive everything
  return *instance;
}

void* fresh(size_t bytes) {
  const bool large = bytes >= huge_page;
  void* memory = std::aligned_alloc(large ? huge_page : 64, large ? (bytes + huge_page - 1) / huge_page * huge_page : (bytes + 63) / 64 * 64);
  if (!memory) throw std::bad_alloc();
  if (large) madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

}  // namespace

void* heap_allocate(size_t bytes) {
  if (bytes < smallest_kept) return fresh(bytes == 0 ? 64 : bytes);
  const size_t size = class_of(bytes);
  {
    auto& shared = pool();
    std::lock_guard lock(shared.mutex);
    auto& blocks = shared.free_blocks[size];
    if (!blocks.empty()) {
      void* memory = blocks.back();
      blocks.pop_back();
      return memory;
    }
  }
  return fresh(size);
}

void heap_free(void* memory, size_t bytes) {
  if (!memory) return;
  if (bytes < smallest_kept) return std::free(memory);
  auto& shared = pool();
  std::lock_guard lock(shared.mutex);
  shared.free_blocks[class_of(bytes)].push_back(memory);
}

}  // namespace scantling
