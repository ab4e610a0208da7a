// What ranks say to each other. A small, total interface on raw host buffers; every backend implements all of it.
// Collectives must be issued by all ranks of the group in the same order with the same operation, counts and type: each is compared
// on arrival and a difference ends the whole group. Of a group of one, every collective is the identity.
// Each call starts an operation and returns its Work; buffers belong to the caller and must stay valid until `wait` returns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scantling/core/dtype.h"
#include "scantling/core/rank.h"

namespace scantling {

// A started operation. `wait` returns when this rank's results are ready and its buffers may be reused; it throws CommError when the
// group has failed or the time limit has passed. A Work that is dropped without `wait` must not hang or touch its buffers again.
class Work {
 public:
  struct State {
    virtual ~State() = default;
    virtual void wait() = 0;
  };
  Work() = default;  // already complete
  explicit Work(std::unique_ptr<State> state) : state_(std::move(state)) {}
  void wait() {
    if (auto state = std::move(state_)) state->wait();
  }

 private:
  std::unique_ptr<State> state_;
};

// One tensor of an all-gather: rank r gives counts[r] elements; `whole` receives all of them in rank order.
// If `mine` already lies at its place in `whole` nothing is copied for this rank, and likewise for any peer whose part's
// address equals its destination (ranks of one process that share `whole`): the collective is then synchronisation only.
struct GatherPiece {
  const void* mine = nullptr;
  void* whole = nullptr;
  std::vector<int64_t> counts;  // elements per rank, zero allowed
};

// One tensor of a reduce-scatter: `whole` is this rank's contribution; rank r's part of it begins at begins[r], or the parts lie one
// after the other when `begins` is empty. This rank's sums, over contributions in rank order and in float32 whatever the input type,
// start from zero, or from `out` when `accumulate`.
// `finished`, when set, is called on this rank's thread during `wait` with consecutive pieces of the sums while they are in cache,
// each a multiple of `granularity` elements long; `out` may then be null.
struct ReducePiece {
  const void* whole = nullptr;  // float32, bfloat16 or float16
  std::vector<int64_t> counts;  // elements per rank, zero allowed
  float* out = nullptr;         // counts[rank()] sums
  bool accumulate = false;
  std::vector<int64_t> begins;  // first element of each rank's part, or empty
  int64_t granularity = 1;      // divides counts[rank()]
  std::function<void(int64_t begin, const float* sums, int64_t count)> finished;
};

enum class ReduceOperation : uint8_t { sum, max };

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual Rank rank() const = 0;
  virtual int size() const = 0;

  virtual Work all_gather(std::vector<GatherPiece> pieces, DType dtype) = 0;
  virtual Work reduce_scatter(std::vector<ReducePiece> pieces, DType dtype) = 0;
  // In place; float32, float64 and int64; contributions are combined in rank order, so all ranks hold the same bits.
  virtual Work all_reduce(void* buffer, int64_t count, DType dtype, ReduceOperation operation) = 0;
  // send_counts[r] elements go to rank r, recv_counts[r] come from it; both buffers hold their parts in rank order.
  virtual Work all_to_all(const void* send, std::vector<int64_t> send_counts, void* recv, std::vector<int64_t> recv_counts,
                          DType dtype) = 0;
  virtual Work broadcast(void* buffer, int64_t count, DType dtype, Rank root) = 0;
  virtual Work send(const void* buffer, int64_t count, DType dtype, Rank to) = 0;  // complete when received
  virtual Work recv(void* buffer, int64_t count, DType dtype, Rank from) = 0;
  virtual Work barrier() = 0;

  // A communicator of `members` (ranks of this group, in the order that becomes theirs), which all of them must ask for with
  // equal lists in the same order. Its failure is the whole group's failure.
  virtual std::unique_ptr<Communicator> subgroup(const std::vector<Rank>& members) = 0;

  // Fails the whole group: every wait, present and to come, on every rank throws CommError with `cause`. First cause wins.
  virtual void abort(const std::string& cause) = 0;

  // What this rank is doing, for messages ("Reduce model.layers.3, micro-batch 1"). Set before each operation.
  void set_context(std::string context) { context_ = std::move(context); }
  const std::string& context() const { return context_; }

 private:
  std::string context_;
};

}  // namespace scantling
