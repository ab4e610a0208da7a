// One rank's parameters: its part of the storage (float32 masters, charged to `parameters`), and the whole tensors its blocks see, which
// exist between gather and release (charged to `gathered`). The tensors blocks receive keep their identity for the whole run, so
// what autograd saved in forward is valid in backward although the memory behind it was given up in between.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "scantling/memory/allocator.h"
#include "scantling/runtime/process_weights.h"
#include "scantling/runtime/rank_environment.h"

namespace scantling {

class ParameterStore {
 public:
  // Charges the storage. `weights` is null when planning.
  ParameterStore(const RankEnvironment& environment, const ProcessWeights* weights);

  // Fills this rank's part of every parameter: read(parameter, first element, count, destination). To be followed by a gather.
  using Reader = std::function<void(int parameter, int64_t begin, int64_t count, float* to)>;
  void fill(const Reader& read);

  Work start_gather(int unit);
  void release(int unit);
  bool gathers() const { return gathers_; }  // whether units must be gathered at all

  // Whole parameters by index in the table, as RankView wants them. Contents are valid between gather and release of their unit.
  const std::vector<at::Tensor>& tensors() const { return tensors_; }

  struct Part {
    float* master = nullptr;  // this rank's elements, null when planning
    int64_t begin = 0;        // first element in the whole parameter
    int64_t count = 0;
    uint16_t* copy = nullptr;  // where the compute type's copy of the same elements is kept up to date; null when there is none
  };
  const Part& part(int parameter) const { return parts_[static_cast<size_t>(parameter)]; }

 private:
  void make_tensor(int parameter, const ProcessWeights* weights);
  void show_private(int parameter);
  GatherPiece piece_of(int parameter);
  int64_t unit_bytes(int unit) const;

  const RankEnvironment& environment_;
  bool shared_, gathers_;
  int64_t element_bytes_;
  std::vector<Part> parts_;
  std::vector<Buffer> storage_;
  std::vector<at::Tensor> tensors_;
  std::vector<std::vector<int64_t>> gather_counts_;  // elements by shard coordinate
};

}  // namespace scantling
