// Reading ahead, filling beforehand and giving memory back: placement only, never a wrong byte.

#include "expert_files.h"
#include "store/usage_history.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

namespace colibri {
namespace {

using testing::ExpertFiles;
using testing::Fault;
using testing::FaultControl;
using testing::Placement;

class Prefetch : public ::testing::Test {
protected:
  std::unique_ptr<ExpertStore> store(std::uint64_t slots) { return m_files.store(slots, m_control); }

  /// Takes the experts of one layer, checks every byte, and returns the first error.
  Status use(ExpertStore& store, int layer, const std::vector<int>& experts) {
    auto batch = store.resolve(layer, experts);
    if (!batch) return batch.status();
    while (batch->hasNext()) {
      const Result<ExpertLease> lease = batch->next({});
      if (!lease) return lease.status();
      EXPECT_TRUE(m_files.matches(layer, lease->expert(), lease->view())) << "expert " << lease->expert();
    }
    return Status::ok();
  }
  /// Lets everything that is being read arrive.
  static void settle(ExpertStore& store) {
    while (store.backend().inFlight() > 0) {
      (void)store.backend().waitReady(std::chrono::seconds(10));
      store.poll();
    }
  }
  [[nodiscard]] std::size_t reads() const { return m_control->log.size(); }

  ExpertFiles m_files{Placement::kContiguous};
  std::shared_ptr<FaultControl> m_control = std::make_shared<FaultControl>();
};

TEST_F(Prefetch, IsPaidOnceAndCountsAsTheMissThatItAnswers) {
  const auto store = this->store(12);
  const std::vector<int> experts{3, 5, 7};
  EXPECT_EQ(store->prefetch(1, experts, ReadPriority::kCertain), 3U);
  const std::size_t paid = reads();
  EXPECT_GT(paid, 0U);
  for (const ReadRequest& request : m_control->log) EXPECT_EQ(request.priority, ReadPriority::kCertain);
  EXPECT_EQ(store->stats().requests, 0U);
  settle(*store);
  ASSERT_TRUE(use(*store, 1, {3, 5, 7}).isOk());
  EXPECT_EQ(reads(), paid);
  ExpertStoreStats stats = store->stats();
  EXPECT_EQ(stats.misses, 3U);
  EXPECT_EQ(stats.compulsoryMisses, 3U);
  EXPECT_EQ(stats.hits, 0U);
  EXPECT_EQ(stats.prefetched, 3U);
  EXPECT_EQ(stats.prefetchedUsed, 3U);
  EXPECT_EQ(stats.prefetchedUnused, 0U);
  ASSERT_TRUE(use(*store, 1, {3}).isOk());
  EXPECT_EQ(store->stats().hits, 1U);
}

TEST_F(Prefetch, AReadThatIsWantedWhileItIsUnderwayIsPromotedAndNotRepeated) {
  const auto store = this->store(12);
  m_control->stalled = true;
  ASSERT_EQ(store->prefetch(0, std::vector<int>{4}, ReadPriority::kPredicted), 1U);
  const std::size_t paid = reads();
  auto batch = store->resolve(0, std::vector<int>{4});
  ASSERT_TRUE(batch.isOk());
  EXPECT_EQ(reads(), paid);
  EXPECT_EQ(m_control->promoted.size(), paid);
  m_control->stalled = false;
  const Result<ExpertLease> lease = batch->next({});
  ASSERT_TRUE(lease.isOk());
  EXPECT_TRUE(m_files.matches(0, 4, lease->view()));
}

TEST_F(Prefetch, CertainExpertsAreKeptUntilTheirRoundEnds) {
  const auto store = this->store(6);
  ASSERT_EQ(store->prefetch(2, std::vector<int>{0, 1, 2}, ReadPriority::kCertain), 3U);
  settle(*store);
  const std::size_t paid = reads();
  // Far more other experts than there are slots.
  for (int first = 0; first < 12; first += 3) ASSERT_TRUE(use(*store, 0, {first, first + 1, first + 2}).isOk());
  ASSERT_TRUE(use(*store, 2, {0, 1, 2}).isOk());
  EXPECT_EQ(reads(), paid + 12 * paid / 3);
  ASSERT_EQ(store->prefetch(2, std::vector<int>{5}, ReadPriority::kCertain), 1U);
  settle(*store);
  store->startRound();
  for (int first = 0; first < 12; first += 3) ASSERT_TRUE(use(*store, 1, {first, first + 1, first + 2}).isOk());
  EXPECT_EQ(store->stats().prefetchedUnused, 1U);
}

TEST_F(Prefetch, LeavesRoomForDemand) {
  const auto store = this->store(4);
  std::vector<int> all(12);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(store->prefetch(0, all, ReadPriority::kCertain), 2U);
  EXPECT_EQ(store->prefetch(1, all, ReadPriority::kPredicted), 1U);
  // A step that needs every slot gets it, whatever was to be kept.
  ASSERT_TRUE(use(*store, 2, all).isOk());
  const auto one = this->store(1);
  EXPECT_EQ(one->prefetch(0, all, ReadPriority::kCertain), 0U);
  ASSERT_TRUE(use(*one, 0, all).isOk());
}

TEST_F(Prefetch, PredictedReadsNeverPushOutWhatElseWasReadAhead) {
  const auto store = this->store(8);
  ASSERT_EQ(store->prefetch(0, std::vector<int>{0, 1, 2, 3}, ReadPriority::kCertain), 4U);
  settle(*store);
  ASSERT_EQ(store->prefetch(1, std::vector<int>{0, 1, 2, 3}, ReadPriority::kPredicted), 2U);
  settle(*store);
  ASSERT_TRUE(use(*store, 0, {0, 1, 2, 3}).isOk());
  EXPECT_EQ(store->stats().prefetchedUsed, 4U);
}

TEST_F(Prefetch, AFailedReadAheadIsNobodysErrorAndIsReadAgain) {
  const auto store = this->store(6);
  m_control->choose = [](const ReadRequest&) { return Fault::kFail; };
  ASSERT_EQ(store->prefetch(0, std::vector<int>{4, 5}, ReadPriority::kCertain), 2U);
  settle(*store);
  m_control->choose = nullptr;
  ASSERT_TRUE(use(*store, 0, {4, 5}).isOk());
  EXPECT_EQ(store->stats().misses, 2U);
}

TEST_F(Prefetch, PreloadFillsTheSlotsInOrderAndItsExpertsAreHits) {
  const auto store = this->store(5);
  // Flat indices; one is named twice, one does not exist.
  const std::vector<std::uint32_t> order{14, 2, 2, 35, 999, 1, 0, 3, 4};
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  ASSERT_TRUE(store
                  ->preload(order,
                            [&](std::uint64_t done, std::uint64_t all) {
                              EXPECT_GE(done, last);
                              last = done;
                              total = all;
                            },
                            {})
                  .isOk());
  EXPECT_GT(total, 0U);
  EXPECT_LE(last, total);
  const std::vector<std::uint8_t> resident = store->residency();
  for (const std::size_t flat : {14U, 2U, 35U, 1U}) EXPECT_EQ(resident[flat], 1) << flat;
  const std::size_t paid = reads();
  ASSERT_TRUE(use(*store, 1, {2}).isOk());
  ASSERT_TRUE(use(*store, 0, {1, 2}).isOk());
  EXPECT_EQ(reads(), paid);
  EXPECT_EQ(store->stats().hits, 3U);
  EXPECT_EQ(store->stats().misses, 0U);
}

TEST_F(Prefetch, PreloadCanBeCancelledAndItsFailuresAreTold) {
  const auto store = this->store(5);
  Cancellation cancellation;
  cancellation.cancel();
  EXPECT_EQ(store->preload(std::vector<std::uint32_t>{1, 2}, {}, cancellation).code(), Code::kCancelled);
  m_control->choose = [](const ReadRequest&) { return Fault::kFail; };
  EXPECT_EQ(store->preload(std::vector<std::uint32_t>{1, 2}, {}, {}).code(), Code::kIo);
  m_control->choose = nullptr;
  ASSERT_TRUE(use(*store, 0, {1, 2}).isOk());
}

TEST_F(Prefetch, ShrinkingGivesSlotsBackAndEverythingStillComes) {
  auto ledger = std::make_shared<Ledger>();
  auto made = ExpertStore::create(m_files.layout(), m_files.backend(m_control), {10, nullptr}, ledger);
  ASSERT_TRUE(made.isOk());
  ExpertStore& store = **made;
  const std::uint64_t slot = ExpertStore::slotBytes(m_files.layout());
  ASSERT_TRUE(use(store, 0, {0, 1, 2, 3, 4, 5}).isOk());
  const std::int64_t before = ledger->bytes(MemoryTag::kExpertCache);
  EXPECT_EQ(store.shrink(slot + 1), 2 * slot);
  EXPECT_EQ(store.slots(), 8U);
  EXPECT_EQ(ledger->bytes(MemoryTag::kExpertCache), before - static_cast<std::int64_t>(2 * slot));
  // Empty slots went first.
  const std::vector<std::uint8_t> resident = store.residency();
  EXPECT_EQ(std::count(resident.begin(), resident.end(), 1), 6);
  EXPECT_EQ(store.shrink(100 * slot), 7 * slot);
  EXPECT_EQ(store.slots(), 1U);
  std::vector<int> all(12);
  std::iota(all.begin(), all.end(), 0);
  for (int layer = 0; layer < 3; ++layer) ASSERT_TRUE(use(store, layer, all).isOk());
  made = Status(Code::kInternal, "gone", "gone");
  EXPECT_EQ(ledger->total(), 0);
}

TEST_F(Prefetch, ShrinkingSparesWhatIsLeased) {
  const auto store = this->store(4);
  auto batch = store->resolve(0, std::vector<int>{1, 2});
  ASSERT_TRUE(batch.isOk());
  const Result<ExpertLease> lease = batch->next({});
  ASSERT_TRUE(lease.isOk());
  (void)store->shrink(std::uint64_t{1} << 40);
  EXPECT_TRUE(m_files.matches(0, lease->expert(), lease->view()));
  EXPECT_GE(store->slots(), 1U);
}

TEST_F(Prefetch, TheHistorySeesEveryWantOnce) {
  UsageHistory history(3 * 12);
  auto made = ExpertStore::create(m_files.layout(), m_files.backend(m_control), {6, &history}, nullptr);
  ASSERT_TRUE(made.isOk());
  ExpertStore& store = **made;
  (void)store.prefetch(1, std::vector<int>{7}, ReadPriority::kCertain);
  EXPECT_EQ(history.accesses(), 0U);
  ASSERT_TRUE(use(store, 1, {7, 3}).isOk());
  ASSERT_TRUE(use(store, 1, {7}).isOk());
  EXPECT_EQ(history.accesses(), 3U);
  EXPECT_EQ(history.hottest(1), std::vector<std::uint32_t>{12 + 7});
  EXPECT_GT(store.heat()[12 + 7], store.heat()[12 + 3]);
  EXPECT_EQ(store.heat()[0], 0);
}

}  // namespace
}  // namespace colibri
