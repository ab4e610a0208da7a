// LibTorch's CPU and meta allocators, replaced by ones that charge the ledger of the calling rank. Meta tensors are charged like real
// ones and take no memory: running a program on them prices it.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "scantling/memory/ledger.h"

namespace scantling {

// Installs both allocators for the process, once; called by everything that creates tensors of ranks.
void install_allocators();

// Books a tensor that owns its storage under another category and label; a view of something else is left alone.
at::Tensor retag(at::Tensor tensor, Category category, std::string_view label);

// Memory outside the tensors' lifetime: charged when made, credited when destroyed. On meta (`real` false) there is only the charge.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Ledger* ledger, Category category, std::string tensor, int64_t bytes, bool real, bool zeroed = false);
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer() { release(); }

  void* data() const { return data_; }  // null on meta, and when empty
  int64_t bytes() const { return bytes_; }
  void release();

 private:
  Ledger* ledger_ = nullptr;
  Category category_ = Category::activations;
  std::string tensor_;
  int64_t bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace scantling
