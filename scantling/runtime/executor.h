// Runs one rank's program: a switch over operations, nothing else. The same code runs a step on the CPU and prices it on meta tensors;
// where the two differ (`real`), only data moves, never an allocation.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scantling/core/exact_sum.h"
#include "scantling/program/instruction.h"
#include "scantling/runtime/gradient_store.h"

namespace scantling {

// One micro-batch on the host; arrays are [rows, length] row-major int64, not owned. Null when planning.
struct BatchView {
  int64_t rows = 0, length = 0;
  const int64_t* ids = nullptr;
  const int64_t* labels = nullptr;  // of the next token; -100: ignored
  const int64_t* starts = nullptr;  // first key a position may see
  const int64_t* positions = nullptr;
  int64_t label_tokens = 0;
};

struct CompiledProgram {
  CompiledProgram(Program program, const ProgramNames& names);
  Program instructions;
  std::vector<std::string> texts;
};

struct StepInputs {
  std::vector<BatchView> micro_batches;
  UpdateScalars scalars;
  bool training = true;                                                              // false: the program only goes forward
  double max_grad_norm = 0;                                                          // 0: no clipping
  bool deferred_update = true;                                                       // as the program was compiled
  bool skip_nonfinite = true;                                                        // otherwise a norm that is not finite throws Error
  int64_t step = 0;                                                                  // for messages
  std::function<void(int micro_batch, const at::Tensor& token_loss)> on_token_loss;  // optional; [rows, length] float32
};

struct StepResult {
  double loss_sum = 0;       // over the label tokens of the global batch
  int64_t label_tokens = 0;  // of the global batch; 0: nothing was done
  double grad_norm = 0;      // before clipping
  bool skipped = false;      // the norm was not finite
  std::string nonfinite_parameter;
};

class Executor {
 public:
  // `optimizer` and `gradients` are null for programs that only go forward. `poll` is called before each instruction and may throw.
  Executor(const RankEnvironment& environment, ParameterStore& parameters, GradientStore* gradients, std::function<void()> poll = {});

  // All ranks run programs that belong together, with equal scalars. The same result on every rank.
  StepResult run(const CompiledProgram& program, const StepInputs& inputs);

 private:
  using Key = std::pair<int, int>;  // block, micro-batch
  struct Kept {
    Bundle in, out;
  };

  void execute(const Instruction& instruction);
  void count_labels();
  void load(int micro_batch);
  void forward(const Instruction& instruction);
  void recompute(const Instruction& instruction);
  void backward(const Instruction& instruction);
  void finish_micro_batch(int micro_batch);
  void reduce(const Instruction& instruction);
  void norm();
  void sum_losses();
  int first_nonfinite();
  Bundle run_block(int block, const Bundle& in, bool with_gradient);
  Bundle as_input(const Bundle& bundle, int block) const;
  at::Tensor seed(const at::Tensor& output) const;
  void take_loss(const Bundle& out, int micro_batch);
  bool trains(int block) const;

  const RankEnvironment& environment_;
  ParameterStore& parameters_;
  GradientStore* gradients_;
  std::function<void()> poll_;
  RankView view_;
  std::vector<std::vector<int>> trained_of_block_;  // trained parameters each block uses
  int first_trained_block_;

  const StepInputs* inputs_ = nullptr;
  StepResult result_;
  float clip_ = 1;
  ExactSum loss_;
  std::map<int, Bundle> stream_;           // by micro-batch: input of the next block
  std::map<int, Bundle> stream_gradient_;  // by micro-batch: gradient of the last backward block's input
  std::map<Key, Kept> kept_;
  std::map<Key, std::vector<BlockGradient>> block_gradients_;
  std::map<int, Work> gathers_, combines_;
  std::map<Key, Work> reductions_;
};

}  // namespace scantling
