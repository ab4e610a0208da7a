#include "scantling/memory/heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
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

// Memory nobody has used, zero if it is large: mapped directly, and never given back.
void* fresh(size_t bytes) {
  if (bytes < huge_page) {
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory) throw std::bad_alloc();
    return memory;
  }
  void* mapped = mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* memory = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(mapped) + huge_page - 1) / huge_page * huge_page);
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void* reuse(size_t size) {
  auto& shared = pool();
  std::lock_guard lock(shared.mutex);
  auto& blocks = shared.free_blocks[size];
  if (blocks.empty()) return nullptr;
  void* memory = blocks.back();
  blocks.pop_back();
  return memory;
}

}  // namespace

void* heap_allocate(size_t bytes) {
  if (bytes < smallest_kept) return fresh(bytes == 0 ? 64 : bytes);
  const size_t size = class_of(bytes);
  void* memory = reuse(size);
  return memory ? memory : fresh(size);
}

void* heap_allocate_zeroed(size_t bytes) {
  const size_t size = class_of(bytes);
  if (size >= huge_page) {
    if (void* memory = reuse(size)) return std::memset(memory, 0, bytes);
    return fresh(size);
  }
  return std::memset(heap_allocate(bytes), 0, bytes);
}

void heap_free(void* memory, size_t bytes) {
  if (!memory) return;
  if (bytes < smallest_kept) return std::free(memory);
  auto& shared = pool();
  std::lock_guard lock(shared.mutex);
  shared.free_blocks[class_of(bytes)].push_back(memory);
}

}  // namespace scantling
