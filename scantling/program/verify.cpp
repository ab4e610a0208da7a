#include "scantling/program/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scantling/core/error.h"

namespace scantling {
namespace {

// Walks the program with the sets an executor would hold.
class Walk {
 public:
  Walk(const Program& program, const PassContext& context) : program_(program), context_(context) {}

  void run() {
    for (at_ = 0; at_ < program_.size(); at_++) step(program_[at_]);
    at_ = program_.size() - 1;
    need(gathered_.empty() && gathering_.empty(), "a unit is still gathered at the end");
    need(kept_.empty(), "a block's forward is never followed by its backward");
    need(reducing_.empty() && combining_.empty(), "a reduction is never waited for");
    need(loaded_.empty(), "a micro-batch is still loaded at the end");
    if (context_.training) need_complete();
  }

 private:
  using Key = std::pair<int, int>;  // block, micro-batch

  void need(bool condition, const char* what) const {
    if (condition || program_.empty()) return;
    check(false, fmt::format("program, instruction {} ({}): {}", at_, to_text(program_[at_], context_.names), what));
  }

  void need_units(const Instruction& i) const {
    for (const int unit : context_.units_of_block[static_cast<size_t>(i.block)])
      need(!context_.unit_gathers[static_cast<size_t>(unit)] || gathered_.count(unit), "a unit of the block is not gathered");
    need(loaded_.count(i.micro_batch), "its micro-batch is not loaded");
  }

  void step(const Instruction& i) {
    const Key key{i.block, i.micro_batch};
    switch (i.operation) {
      case Operation::count_labels: break;
      case Operation::load: need(loaded_.insert(i.micro_batch).second, "loaded twice"); break;
      case Operation::unload: need(loaded_.erase(i.micro_batch), "not loaded"); break;
      case Operation::gather_start: need(!gathered_.count(i.unit) && gathering_.insert(i.unit).second, "gathered already"); break;
      case Operation::gather_wait: need(gathering_.erase(i.unit) && gathered_.insert(i.unit).second, "not started"); break;
      case Operation::release: need(gathered_.erase(i.unit), "not gathered"); break;
      case Operation::forward: forward(i, key); break;
      case Operation::recompute:
        need_units(i);
        need(inputs_.count(key), "no input was kept for it");
        need(kept_.insert(key).second, "kept already");
        break;
      case Operation::backward: backward(i, key); break;
      case Operation::reduce_start:
        need(unreduced_.erase(key) && reducing_.insert(key).second, "no gradients to reduce");
        need(!updated_.count(i.block), "reduced after its update");
        break;
      case Operation::reduce_wait: need(reducing_.erase(key) && reduced_.insert(key).second, "not started"); break;
      case Operation::norm:
        need(reducing_.empty() && unreduced_.empty(), "a gradient is not reduced yet");
        normed_ = true;
        break;
      case Operation::combine_start: need(combining_.insert(i.block).second, "started already"); break;
      case Operation::combine_wait: need(combining_.erase(i.block) && combined_.insert(i.block).second, "not started"); break;
      case Operation::update: update(i); break;
    }
  }

  void forward(const Instruction& i, const Key& key) {
    need_units(i);
    need(i.block == 0 || ran_.count({i.block - 1, i.micro_batch}), "the block before has not run");
    need(ran_.insert(key).second, "run twice");
    if (i.keep)
      kept_.insert(key);
    else
      inputs_.insert(key);
  }

  void backward(const Instruction& i, const Key& key) {
    need_units(i);
    need(kept_.erase(key), "its forward kept nothing");
    const bool last = i.block + 1 == context_.num_blocks();
    need(last || backed_.count({i.block + 1, i.micro_batch}), "the block after has not run backward");
    backed_.insert(key);
    if (context_.block_reduces[static_cast<size_t>(i.block)]) unreduced_.insert(key);
  }

  void update(const Instruction& i) {
    for (int m = 0; m < context_.micro_batches; m++) need(reduced_.count({i.block, m}), "not every micro-batch's gradient is reduced");
    need(!context_.deferred_update || normed_, "updated before the norm is known");
    need(!context_.combines || combined_.count(i.block), "its gradients are not combined");
    need(updated_.insert(i.block).second, "updated twice");
  }

  void need_complete() const {
    for (int b = 0; b < context_.num_blocks(); b++) {
      if (context_.block_updates[static_cast<size_t>(b)]) need(updated_.count(b), "a trained block is never updated");
      for (int m = 0; m < context_.micro_batches; m++) {
        need(ran_.count({b, m}), "a block does not run in every micro-batch");
        if (context_.block_reduces[static_cast<size_t>(b)]) need(reduced_.count({b, m}), "a gradient is never reduced");
      }
    }
    need(normed_, "there is no norm");
  }

  const Program& program_;
  const PassContext& context_;
  size_t at_ = 0;
  bool normed_ = false;
  std::set<int> gathered_, gathering_, loaded_, combining_, combined_, updated_;
  std::set<Key> ran_, inputs_, kept_, backed_, unreduced_, reducing_, reduced_;
};

bool communicates(const Instruction& i) {
  switch (i.operation) {
    case Operation::count_labels:
    case Operation::gather_start:
    case Operation::reduce_start:
    case Operation::norm:
    case Operation::combine_start: return true;
    default: return false;
  }
}

}  // namespace

void verify(const Program& program, const PassContext& context) { Walk(program, context).run(); }

void verify_together(const std::vector<Program>& programs, const ProgramNames& names) {
  std::vector<Program> talks;
  for (const auto& program : programs) {
    talks.emplace_back();
    std::copy_if(program.begin(), program.end(), std::back_inserter(talks.back()), communicates);
  }
  for (size_t r = 1; r < talks.size(); r++) {
    const size_t shorter = std::min(talks[r].size(), talks[0].size());
    for (size_t i = 0; i < shorter; i++)
      if (!(talks[r][i] == talks[0][i]))
        check(false, fmt::format("communication {} differs: rank 0 has {}, rank {} has {}", i, to_text(talks[0][i], names), r,
                                 to_text(talks[r][i], names)));
    check(talks[r].size() == talks[0].size(),
          fmt::format("rank {} communicates {} times, rank 0 {} times", r, talks[r].size(), talks[0].size()));
  }
}

}  // namespace scantling
