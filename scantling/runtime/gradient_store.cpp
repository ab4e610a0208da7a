#include "scantling/runtime/gradient_store.h"

#include <algorithm>
#include <cmath>

#include "scantling/optim/gradient_norm.h"

namespace scantling {

GradientStore::Range GradientStore::range_of(int parameter, Rank rank) const {
  const auto rows = environment_.layout->gradient_rows(parameter, rank);
  const int64_t row = row_elements(environment_.info(parameter));
  return {rows.begin * row, rows.size() * row};
}

Buffer GradientStore::make_buffer(int parameter, int64_t count) const {
  return Buffer(environment_.ledger, Category::gradients, environment_.info(parameter).name, count * 4, environment_.real);
}

std::vector<int> GradientStore::homed_at(int block) const {
  std::vector<int> parameters;
  for (int p = 0; p < environment_.num_parameters(); p++)
    if (environment_.placement(p).trainable && environment_.info(p).blocks.front() == block) parameters.push_back(p);
  return parameters;
}

void GradientStore::begin_step() {
  squares_ = ExactSum();
  nonfinite_ = -1;
}

ReducePiece GradientStore::piece_of(int block, const BlockGradient& gradient, bool first, const UpdateScalars* scalars) {
  const int p = gradient.parameter;
  ReducePiece piece;
  for (const Rank rank : environment_.layout->batch_group(environment_.rank)) {
    const auto range = range_of(p, rank);
    piece.begins.push_back(range.begin);
    piece.counts.push_back(range.count);
  }
  if (environment_.real) piece.whole = gradient.whole.const_data_ptr();
  piece.granularity = std::max<int64_t>(1, row_elements(environment_.info(p)));
  const bool streams = scalars && environment_.info(p).blocks.front() == block;
  auto& sums = sums_[{p, block}];
  if (first && !streams) sums = make_buffer(p, range_of(p, environment_.rank).count);
  piece.out = static_cast<float*>(sums.data());
  piece.accumulate = !first;
  if (streams)
    piece.finished = [this, p, step = *scalars](int64_t offset, const float* part, int64_t count) {
      consume(p, offset, part, count, step);
    };
  return piece;
}

Work GradientStore::start_reduce(int block, const std::vector<BlockGradient>& gradients, bool first, const UpdateScalars* scalars) {
  std::vector<ReducePiece> pieces;
  for (const auto& gradient : gradients) pieces.push_back(piece_of(block, gradient, first, scalars));
  return environment_.batch->reduce_scatter(std::move(pieces), environment_.compute());
}

// A piece of a complete gradient: the other uses' sums are added, its squares counted, the optimizer applied.
void GradientStore::consume(int parameter, int64_t offset, const float* sums, int64_t count, const UpdateScalars& scalars) {
  const auto& blocks = environment_.info(parameter).blocks;
  if (blocks.size() > 1) {
    folded_.assign(sums, sums + count);
    for (size_t use = 1; use < blocks.size(); use++) {
      const auto* more = static_cast<const float*>(sums_[{parameter, blocks[use]}].data()) + offset;
      for (int64_t i = 0; i < count; i++) folded_[static_cast<size_t>(i)] += more[i];
    }
    sums = folded_.data();
  }
  add_squares_of(parameter, range_of(parameter, environment_.rank).begin + offset, sums, count);
  optimizer_.update(parameter, offset, sums, count, scalars);
}

void GradientStore::add_squares_of(int parameter, int64_t begin, const float* gradient, int64_t count) {
  if (!environment_.real || count == 0) return;
  ExactSum own;
  add_squares(gradient, begin, count, row_elements(environment_.info(parameter)), own);
  if ((nonfinite_ < 0 || parameter < nonfinite_) && !std::isfinite(own.value())) nonfinite_ = parameter;
  squares_.merge(own);
}

void GradientStore::finish(int block) {
  for (const int p : homed_at(block)) {
    const auto& blocks = environment_.info(p).blocks;
    const auto range = range_of(p, environment_.rank);
    auto* sum = static_cast<float*>(sums_[{p, block}].data());
    for (size_t use = 1; use < blocks.size(); use++) {
      const auto* more = static_cast<const float*>(sums_[{p, blocks[use]}].data());
      for (int64_t i = 0; environment_.real && i < range.count; i++) sum[i] += more[i];
      sums_.erase({p, blocks[use]});
    }
    add_squares_of(p, range.begin, sum, range.count);
  }
}

Work GradientStore::start_combine(int block) {
  const auto& layout = *environment_.layout;
  std::vector<GatherPiece> pieces;
  for (const int p : homed_at(block)) {
    const int64_t row = row_elements(environment_.info(p));
    auto& whole = combined_[p] = make_buffer(p, layout.stored_rows(p, environment_.rank).size() * row);
    GatherPiece piece{sums_[{p, block}].data(), whole.data(), {}};
    for (const Rank rank : layout.data_group(environment_.rank)) piece.counts.push_back(range_of(p, rank).count);
    pieces.push_back(std::move(piece));
  }
  return environment_.data->all_gather(std::move(pieces), DType::float32);
}

void GradientStore::update(int block, const UpdateScalars& scalars, bool apply) {
  for (const int p : homed_at(block)) {
    const auto combined = combined_.find(p);
    auto& gradient = combined == combined_.end() ? sums_[{p, block}] : combined->second;
    if (apply) optimizer_.update(p, 0, static_cast<const float*>(gradient.data()), gradient.bytes() / 4, scalars);
    combined_.erase(p);
    for (const int use : environment_.info(p).blocks) sums_.erase({p, use});
  }
}

}  // namespace scantling
