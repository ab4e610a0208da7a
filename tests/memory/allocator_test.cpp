// LibTorch's allocations on a rank's ledger: real and meta tensors alike, scratch, other categories, other threads.
#include "scantling/memory/allocator.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "scantling/core/error.h"
#include "scantling/memory/heap.h"
#include "scantling/memory/scope.h"

namespace scantling {
namespace {

class Allocator : public testing::Test {
 protected:
  void SetUp() override { install_allocators(); }
  static at::Tensor floats(int64_t count, c10::DeviceType device = c10::kCPU) {
    return at::empty({count}, at::TensorOptions().dtype(at::kFloat).device(device));
  }
  static int64_t held(const Ledger& ledger, Category category) { return ledger.current()[static_cast<size_t>(category)]; }
  Ledger ledger_{0};
};

TEST_F(Allocator, RequestedBytesAreChargedAndCredited) {
  {
    MemoryScope scope(&ledger_, Category::activations, "layer");
    auto tensor = floats(25);
    EXPECT_EQ(held(ledger_, Category::activations), 100);
    auto view = tensor.view({5, 5});
    tensor.reset();
    EXPECT_EQ(ledger_.current_bytes(), 100) << "the view keeps the storage";
  }
  EXPECT_EQ(ledger_.current_bytes(), 0);
  EXPECT_EQ(ledger_.peak().tensor, "layer");
}

TEST_F(Allocator, MetaAndCpuChargeAlike) {
  for (const int64_t count : {0, 1, 63, 100'003}) {
    Ledger real(0), priced(0);
    {
      MemoryScope scope(&real, Category::data, "x");
      floats(count);
    }
    MemoryScope scope(&priced, Category::data, "x");
    floats(count, c10::kMeta);
    EXPECT_EQ(real.peak().bytes, count * 4);
    EXPECT_EQ(priced.peak().bytes, real.peak().bytes);
    EXPECT_EQ(priced.current_bytes(), 0);
  }
}

TEST_F(Allocator, WithoutAScopeNothingIsCounted) {
  auto tensor = floats(100);
  MemoryScope scope(&ledger_, Category::data, "x");
  tensor.reset();
  EXPECT_EQ(ledger_.peak().bytes, 0);
  EXPECT_EQ(ledger_.current_bytes(), 0);
}

TEST_F(Allocator, ATensorOfAMebibyteIsAlignedAndWritable) {
  for (const int64_t bytes : {1, 4095, 4097, 1 << 20, 5 << 20}) {
    auto* memory = static_cast<char*>(heap_allocate(static_cast<size_t>(bytes)));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u) << bytes;
    std::memset(memory, 1, static_cast<size_t>(bytes));
    heap_free(memory, static_cast<size_t>(bytes));
  }
}

TEST_F(Allocator, ABudgetRefusesBeforeMemoryIsTaken) {
  Ledger small(1, 64);
  MemoryScope scope(&small, Category::activations, "layer");
  EXPECT_THROW(floats(1'000'000'000'000), OutOfDeviceMemory);
  EXPECT_EQ(small.current_bytes(), 0);
  EXPECT_NO_THROW(floats(16));
}

TEST_F(Allocator, ScratchCountsAgainstTheReservationOnly) {
  ledger_.reserve_workspace(400);
  MemoryScope scope(&ledger_, Category::activations, "layer");
  {
    ScratchScope scratch(400);
    auto inside = floats(100);
    EXPECT_EQ(held(ledger_, Category::activations), 0);
    EXPECT_THROW(floats(1), std::logic_error);
  }
  EXPECT_EQ(ledger_.current_bytes(), 400);
  EXPECT_EQ(ledger_.wanted_workspace_bytes(), 400);
}

TEST_F(Allocator, AWeightsGradientIsBookedAsOneFromItsFirstByte) {
  MemoryScope scope(&ledger_, Category::activations, "layer");
  const auto input = floats(10);
  at::Tensor gradient;
  {
    const GradientScope of_weights;
    gradient = floats(25);
  }
  const auto next = floats(10);
  EXPECT_EQ(held(ledger_, Category::gradients), 100);
  EXPECT_EQ(held(ledger_, Category::activations), 80);
}

TEST_F(Allocator, RetagMovesATensorToAnotherCategory) {
  MemoryScope scope(&ledger_, Category::activations, "layer");
  auto tensor = retag(floats(25), Category::gradients, "weight");
  EXPECT_EQ(held(ledger_, Category::activations), 0);
  EXPECT_EQ(held(ledger_, Category::gradients), 100);
  EXPECT_EQ(ledger_.peak().bytes, 100) << "moving is no second charge";
  tensor.reset();
  EXPECT_EQ(ledger_.current_bytes(), 0);
}

TEST_F(Allocator, ABufferIsChargedWhileItLives) {
  Buffer buffer(&ledger_, Category::optimizer, "moment", 40, true, true);
  EXPECT_EQ(held(ledger_, Category::optimizer), 40);
  for (int i = 0; i < 40; i++) EXPECT_EQ(static_cast<char*>(buffer.data())[i], 0);
  Buffer moved = std::move(buffer);
  EXPECT_EQ(ledger_.current_bytes(), 40);
  moved = Buffer(&ledger_, Category::optimizer, "moment", 10, false);
  EXPECT_EQ(ledger_.current_bytes(), 10);
  EXPECT_EQ(moved.data(), nullptr) << "a priced buffer has no memory";
  moved.release();
  moved.release();
  EXPECT_EQ(ledger_.current_bytes(), 0);
}

TEST_F(Allocator, AnEmptyBufferHoldsNothing) {
  Buffer none, empty(&ledger_, Category::optimizer, "moment", 0, true);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(ledger_.peak().bytes, 0);
}

TEST_F(Allocator, ScopesBelongToTheirThread) {
  MemoryScope scope(&ledger_, Category::activations, "mine");
  Ledger other(1);
  std::thread([&] {
    floats(10);
    MemoryScope theirs(&other, Category::data, "theirs");
    floats(20);
  }).join();
  EXPECT_EQ(ledger_.peak().bytes, 0);
  EXPECT_EQ(other.peak().bytes, 80);
}

}  // namespace
}  // namespace scantling
