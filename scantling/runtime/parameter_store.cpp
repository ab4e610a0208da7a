#include "scantling/runtime/parameter_store.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include "scantling/memory/heap.h"
#include "scantling/memory/scope.h"
#include "scantling/nn/tensor_types.h"

namespace scantling {
namespace {

// A tensor of the given shape without memory of its own; show() gives it some.
at::Tensor hollow(const std::vector<int64_t>& shape, at::ScalarType type) {
  static char nothing[64];
  auto tensor = at::from_blob(nothing, shape, at::TensorOptions().dtype(type));
  tensor.storage().set_nbytes(0);
  return tensor;
}

void hide(const at::Tensor& tensor) {
  auto storage = tensor.storage();
  storage.set_data_ptr_noswap(c10::DataPtr(nullptr, c10::Device(c10::kCPU)));
  storage.set_nbytes(0);
}

struct Memory {
  void* data;
  size_t bytes;
};

void free_memory(void* context) {
  auto* block = static_cast<Memory*>(context);
  heap_free(block->data, block->bytes);
  delete block;
}

}  // namespace

ParameterStore::ParameterStore(const RankEnvironment& environment, const ProcessWeights* weights)
    : environment_(environment),
      shared_(environment.layout->options.gather == GatherMode::shared),
      gathers_(environment.layout->shards() > 1 || environment.compute() != DType::float32),
      element_bytes_(size_of(environment.compute())) {
  const auto& layout = *environment.layout;
  const int replica = layout.mesh.coordinate(environment.rank, "data");
  MemoryScope uncounted(nullptr, Category::parameters, "parameters");
  for (int p = 0; p < environment.num_parameters(); p++) {
    const auto rows = layout.stored_rows(p, environment.rank);
    const int64_t row = row_elements(environment.info(p));
    Part part{nullptr, rows.begin * row, rows.size() * row, nullptr};
    const bool own_memory = environment.real && !shared_;
    storage_.emplace_back(environment.ledger, Category::parameters, environment.info(p).name, part.count * 4, own_memory);
    if (own_memory) part.master = static_cast<float*>(storage_.back().data());
    if (environment.real && shared_) {
      part.master = weights->master(replica, p) + part.begin;
      if (element_bytes_ == 2) part.copy = static_cast<uint16_t*>(weights->compute(replica, p)) + part.begin;
    }
    parts_.push_back(part);
    auto& counts = gather_counts_.emplace_back();
    for (const int64_t size : environment.placement(p).split.sizes) counts.push_back(size * row);
    make_tensor(p, weights);
  }
}

void ParameterStore::make_tensor(int parameter, const ProcessWeights* weights) {
  const auto& info = environment_.info(parameter);
  const auto type = scalar_type_of(environment_.compute());
  at::Tensor tensor;
  if (!environment_.real) {
    tensor = at::empty(info.shape, at::TensorOptions().dtype(type).device(c10::kMeta));
  } else if (shared_) {
    const int replica = environment_.layout->mesh.coordinate(environment_.rank, "data");
    tensor = at::from_blob(weights->compute(replica, parameter), info.shape, at::TensorOptions().dtype(type));
  } else if (gathers_) {
    tensor = hollow(info.shape, type);
  } else {
    tensor = at::from_blob(parts_.back().master, info.shape, at::TensorOptions().dtype(type));
  }
  tensor.set_requires_grad(environment_.placement(parameter).trainable);
  tensors_.push_back(tensor);
}

void ParameterStore::fill(const Reader& read) {
  for (int p = 0; p < environment_.num_parameters(); p++) {
    const auto& part = parts_[static_cast<size_t>(p)];
    read(p, part.begin, part.count, part.master);
    if (part.copy) convert(part.master, DType::float32, part.copy, environment_.compute(), part.count);
  }
}

int64_t ParameterStore::unit_bytes(int unit) const {
  int64_t bytes = 0;
  for (const int p : environment_.layout->units[static_cast<size_t>(unit)].parameters)
    bytes += environment_.info(p).count() * element_bytes_;
  return bytes;
}

void ParameterStore::show_private(int parameter) {
  auto& tensor = tensors_[static_cast<size_t>(parameter)];
  const auto bytes = static_cast<size_t>(tensor.numel() * element_bytes_);
  auto* block = new Memory{heap_allocate(bytes), bytes};
  auto storage = tensor.storage();
  storage.set_nbytes(bytes);
  storage.set_data_ptr_noswap(c10::DataPtr(block->data, block, &free_memory, c10::Device(c10::kCPU)));
}

// Private: the whole is made now, and this rank's part of it is written in the compute type. Shared: every part lies at its place already.
GatherPiece ParameterStore::piece_of(int parameter) {
  const auto& part = parts_[static_cast<size_t>(parameter)];
  GatherPiece piece{nullptr, nullptr, gather_counts_[static_cast<size_t>(parameter)]};
  if (!environment_.real) return piece;
  if (!shared_) show_private(parameter);
  auto* whole = static_cast<char*>(tensors_[static_cast<size_t>(parameter)].mutable_data_ptr());
  auto* mine = whole + part.begin * element_bytes_;
  if (!shared_) convert(part.master, DType::float32, mine, environment_.compute(), part.count);
  piece.whole = whole;
  piece.mine = mine;
  return piece;
}

Work ParameterStore::start_gather(int unit) {
  const auto& layout_unit = environment_.layout->units[static_cast<size_t>(unit)];
  environment_.ledger->charge(Category::gathered, unit_bytes(unit), layout_unit.name);
  std::vector<GatherPiece> pieces;
  for (const int p : layout_unit.parameters) pieces.push_back(piece_of(p));
  return environment_.shard->all_gather(std::move(pieces), environment_.compute());
}

void ParameterStore::release(int unit) {
  const auto& layout_unit = environment_.layout->units[static_cast<size_t>(unit)];
  environment_.ledger->credit(Category::gathered, unit_bytes(unit), layout_unit.name);
  if (environment_.real && !shared_)
    for (const int p : layout_unit.parameters) hide(tensors_[static_cast<size_t>(p)]);
}

}  // namespace scantling
