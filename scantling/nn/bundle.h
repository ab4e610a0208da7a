// What passes from block to block: named tensors. Differentiable entries carry gradients back; the others (token ids, positions,
// document starts, rotary angles) are handed on as they are.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "scantling/core/error.h"

namespace scantling {

struct Bundle {
  struct Entry {
    std::string name;
    at::Tensor tensor;
    bool differentiable = false;
  };
  std::vector<Entry> entries;

  const at::Tensor* find(const std::string& name) const {
    for (const auto& entry : entries)
      if (entry.name == name) return &entry.tensor;
    return nullptr;
  }
  const at::Tensor& at(const std::string& name) const {
    const auto* tensor = find(name);
    check(tensor != nullptr, "bundle: no tensor named " + name);
    return *tensor;
  }
  // Adds the entry, or replaces the one of that name.
  void set(const std::string& name, at::Tensor tensor, bool differentiable) {
    for (auto& entry : entries)
      if (entry.name == name) {
        entry.tensor = std::move(tensor);
        entry.differentiable = differentiable;
        return;
      }
    entries.push_back({name, std::move(tensor), differentiable});
  }
};

}  // namespace scantling
