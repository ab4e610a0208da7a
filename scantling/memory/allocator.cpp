#include "scantling/memory/allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <mutex>

#include "scantling/core/error.h"
#include "scantling/memory/heap.h"
#include "scantling/memory/scope.h"

namespace scantling {
namespace {

// Lies in the 64 bytes before the data: oneDNN's scratch comes by raw_allocate, which needs the data pointer to be its own context.
struct Header {
  int64_t bytes;
  Ledger* ledger;
  std::string_view tensor;
  Category category;
  bool scratch;
  bool real;
};
static_assert(sizeof(Header) <= 64);

Header* header_of(void* data) { return reinterpret_cast<Header*>(static_cast<char*>(data) - 64); }

void free_block(void* data) {
  if (!data) return;
  auto* header = header_of(data);
  if (header->ledger) {
    if (header->scratch)
      header->ledger->scratch(-header->bytes);
    else
      header->ledger->credit(header->category, header->bytes, header->tensor);
  }
  heap_free(header, 64 + (header->real ? static_cast<size_t>(header->bytes) : 0));
}

class LedgerAllocator : public c10::Allocator {
 public:
  explicit LedgerAllocator(c10::DeviceType type) : type_(type) {}

  c10::DataPtr allocate(size_t bytes) override {
    const auto& context = memory_context();
    const auto size = static_cast<int64_t>(bytes);
    if (context.ledger) {
      if (context.scratch)
        context.ledger->scratch(size);
      else
        context.ledger->charge(context.category, size, context.tensor);
    }
    const bool real = type_ == c10::kCPU;
    auto* memory = static_cast<char*>(heap_allocate(64 + (real ? bytes : 0)));
    new (memory) Header{size, context.ledger, context.tensor, context.category, context.scratch, real};
    void* data = memory + 64;
    return {data, data, &free_block, c10::Device(type_)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    if (type_ == c10::kCPU) std::memcpy(to, from, bytes);
  }

 private:
  c10::DeviceType type_;
};

}  // namespace

MemoryContext& memory_context() {
  thread_local MemoryContext context;
  return context;
}

void install_allocators() {
  static std::once_flag once;
  std::call_once(once, [] {
    static LedgerAllocator cpu(c10::kCPU), meta(c10::kMeta);
    c10::SetCPUAllocator(&cpu, 255);
    c10::SetAllocator(c10::kMeta, &meta, 255);
  });
}

at::Tensor retag(at::Tensor tensor, Category category, std::string_view label) {
  void* data = tensor.storage().data_ptr().get_context();
  if (!data || tensor.storage().data_ptr().get_deleter() != &free_block) return tensor;
  auto* header = header_of(data);
  if (!header->ledger) return tensor;
  header->ledger->credit(header->category, header->bytes, header->tensor);
  header->category = category;
  header->tensor = label;
  header->ledger->charge(category, header->bytes, label);
  return tensor;
}

Buffer::Buffer(Ledger* ledger, Category category, std::string tensor, int64_t bytes, bool real, bool zeroed)
    : ledger_(ledger), category_(category), tensor_(std::move(tensor)), bytes_(bytes) {
  if (ledger_) ledger_->charge(category_, bytes_, tensor_);
  if (real && bytes_ > 0) {
    data_ = zeroed ? heap_allocate_zeroed(static_cast<size_t>(bytes_)) : heap_allocate(static_cast<size_t>(bytes_));
  }
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  release();
  ledger_ = std::exchange(other.ledger_, nullptr);
  category_ = other.category_;
  tensor_ = std::move(other.tensor_);
  bytes_ = std::exchange(other.bytes_, 0);
  data_ = std::exchange(other.data_, nullptr);
  return *this;
}

void Buffer::release() {
  if (ledger_) ledger_->credit(category_, bytes_, tensor_);
  heap_free(data_, static_cast<size_t>(bytes_));
  ledger_ = nullptr;
  data_ = nullptr;
  bytes_ = 0;
}

}  // namespace scantling
