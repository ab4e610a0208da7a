// The one physical copy of the weights that the ranks of a process share. Each owner writes its part, the others read it; a gather is
// then synchronisation only. Every rank's ledger is still charged as a real device would be; the process pays once.
// One copy per replica (coordinate on the data axis): replicas are really separate.
#pragma once

#include <cstdint>
#include <vector>

#include "scantling/layout/layout.h"

namespace scantling {

class ProcessWeights {
 public:
  // Allocates, does not fill. With gather: private no copy is made and `masters`, `compute` are null.
  ProcessWeights(const ModelDescription& model, const Layout& layout);
  ~ProcessWeights();
  ProcessWeights(const ProcessWeights&) = delete;
  ProcessWeights& operator=(const ProcessWeights&) = delete;

  bool shared() const { return shared_; }
  float* master(int replica, int parameter) const { return at(masters_, replica, parameter).as_float; }
  // Whole parameter in the compute type: the master itself when that is float32.
  void* compute(int replica, int parameter) const { return low_.empty() ? master(replica, parameter) : at(low_, replica, parameter).data; }

 private:
  union Pointer {
    void* data;
    float* as_float;
  };
  Pointer at(const std::vector<Pointer>& list, int replica, int parameter) const {
    return list.empty() ? Pointer{nullptr} : list[static_cast<size_t>(replica) * counts_.size() + static_cast<size_t>(parameter)];
  }

  bool shared_;
  std::vector<int64_t> counts_;
  std::vector<Pointer> masters_, low_;  // by replica, then parameter
};

}  // namespace scantling
