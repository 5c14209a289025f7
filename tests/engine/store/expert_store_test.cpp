// The expert store: right bytes at every number of slots, single flight, faults, cancellation, counters.

#include "store/expert_store.h"

#include "engine/store/expert_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <tuple>

namespace colibri {
namespace {

using testing::ExpertFiles;
using testing::Fault;
using testing::FaultControl;
using ::testing::HasSubstr;
using testing::Placement;

constexpr int kWanted = 6;

std::vector<int> distinctExperts(std::mt19937_64& random, int count = kWanted) {
  std::vector<int> experts(ExpertFiles::kExperts);
  std::iota(experts.begin(), experts.end(), 0);
  std::shuffle(experts.begin(), experts.end(), random);
  experts.resize(static_cast<std::size_t>(count));
  return experts;
}

/// Takes everything that a batch has; the ids in the order of arrival.
std::vector<int> takeAll(const ExpertFiles& files, int layer, ExpertBatch& batch) {
  std::vector<int> order;
  while (batch.hasNext()) {
    auto lease = batch.next({});
    if (!lease) {
      ADD_FAILURE() << lease.status().message();
      break;
    }
    EXPECT_TRUE(files.matches(layer, lease->expert(), lease->view()))
        << "layer " << layer << " expert " << lease->expert();
    order.push_back(lease->expert());
  }
  return order;
}

class ExpertStoreSlots : public ::testing::TestWithParam<std::tuple<int, Placement, IoKind, bool>> {};

TEST_P(ExpertStoreSlots, HandsOutEveryWantedExpertOnceWithItsBytes) {
  const auto [slots, placement, kind, direct] = GetParam();
  const ExpertFiles files(placement);
  const auto control = std::make_shared<FaultControl>();
  control->longestDelay = 5;
  const auto store = files.store(static_cast<std::uint64_t>(slots), control, {kind, direct, 4});
  const ExpertLayout layout = files.layout();
  std::mt19937_64 random(11);
  std::set<std::pair<int, int>> distinct;
  std::uint64_t wanted = 0;
  for (int step = 0; step < 40; ++step) {
    const int layer = step % ExpertFiles::kLayers;
    const std::vector<int> experts = distinctExperts(random, 1 + step % 8);
    const std::vector<std::uint8_t> before = store->residency();
    auto batch = store->resolve(layer, experts);
    ASSERT_TRUE(batch.isOk()) << batch.status().message();
    const std::vector<int> order = takeAll(files, layer, *batch);
    EXPECT_THAT(order, ::testing::UnorderedElementsAreArray(experts));
    // Hits first.
    const auto isMiss = [&](int expert) {
      return before[static_cast<std::size_t>(layer * ExpertFiles::kExperts + expert)] == 0;
    };
    EXPECT_TRUE(std::is_partitioned(order.begin(), order.end(), [&](int expert) { return !isMiss(expert); }));
    for (const int expert : experts) distinct.insert({layer, expert});
    wanted += experts.size();
  }
  const ExpertStoreStats stats = store->stats();
  EXPECT_EQ(stats.requests, wanted);
  EXPECT_EQ(stats.hits + stats.misses, wanted);
  EXPECT_EQ(stats.compulsoryMisses, distinct.size());
  EXPECT_EQ(stats.bytesMissed, stats.misses * layout.maxExpertBytes());
  EXPECT_EQ(control->log.size(), stats.misses * layout.place(0, 0).extents.size());
  std::uint64_t asked = 0;
  for (const ReadRequest& request : control->log) asked += request.bytes;
  EXPECT_EQ(stats.bytesRead, asked);
  std::uint64_t arrived = 0;
  for (const DriveCounters& drive : store->backend().driveCounters()) arrived += drive.bytesRead;
  EXPECT_GT(arrived, 0U);
  EXPECT_LE(arrived, asked);
  EXPECT_GT(stats.readSeconds, 0);
  if (store->slots() == distinct.size()) {
    EXPECT_EQ(stats.misses, distinct.size());
  }
  const std::vector<std::uint8_t> resident = store->residency();
  EXPECT_EQ(std::accumulate(resident.begin(), resident.end(), std::uint64_t{0}),
            std::min(store->slots(), distinct.size()));
}

std::string slotsName(const ::testing::TestParamInfo<ExpertStoreSlots::ParamType>& info) {
  const auto [slots, placement, kind, direct] = info.param;
  return "Slots" + std::to_string(slots) + (placement == Placement::kScattered ? "Scattered" : "Contiguous") +
         (kind == IoKind::kThreads ? "Threads" : "Auto") + (direct ? "Direct" : "Buffered");
}

INSTANTIATE_TEST_SUITE_P(Grid, ExpertStoreSlots,
                         ::testing::Combine(::testing::Values(1, kWanted - 1, kWanted, kWanted + 1, 36, 1000),
                                            ::testing::Values(Placement::kContiguous, Placement::kScattered),
                                            ::testing::Values(IoKind::kAuto, IoKind::kThreads), ::testing::Bool()),
                         slotsName);

class ExpertStoreTest : public ::testing::Test {
protected:
  std::unique_ptr<ExpertStore> open(std::uint64_t slots) { return m_files.store(slots, m_control); }
  ExpertBatch resolve(ExpertStore& store, int layer, const std::vector<int>& experts) {
    auto batch = store.resolve(layer, experts);
    EXPECT_TRUE(batch.isOk()) << batch.status().message();
    return std::move(batch).value();
  }

  ExpertFiles m_files{Placement::kContiguous};
  std::shared_ptr<FaultControl> m_control = std::make_shared<FaultControl>();
};

TEST_F(ExpertStoreTest, LeasesOfOneStepMayAllBeHeldWhenThereAreAsManySlots) {
  const auto store = open(kWanted);
  std::mt19937_64 random(5);
  for (int step = 0; step < 20; ++step) {
    const int layer = step % ExpertFiles::kLayers;
    ExpertBatch batch = resolve(*store, layer, distinctExperts(random));
    std::vector<ExpertLease> leases;
    while (batch.hasNext()) {
      auto lease = batch.next({});
      ASSERT_TRUE(lease.isOk()) << lease.status().message();
      leases.push_back(std::move(lease).value());
    }
    ASSERT_EQ(leases.size(), static_cast<std::size_t>(kWanted));
    for (const ExpertLease& lease : leases) EXPECT_TRUE(m_files.matches(layer, lease.expert(), lease.view()));
  }
}

TEST_F(ExpertStoreTest, VictimsAreNeverWhatTheCallNeeds) {
  const auto store = open(4);
  {
    ExpertBatch batch = resolve(*store, 0, {0, 1, 2, 3});
    takeAll(m_files, 0, batch);
  }
  // Misses come first in the list, yet they may only take the places of 1 and 3.
  ExpertBatch batch = resolve(*store, 0, {8, 9, 0, 2});
  takeAll(m_files, 0, batch);
  EXPECT_EQ(store->stats().misses, 6U);
  EXPECT_EQ(store->stats().hits, 2U);
}

TEST_F(ExpertStoreTest, HeldLeaseWithoutAnotherSlotIsAnErrorNotAHang) {
  const auto store = open(1);
  ExpertBatch batch = resolve(*store, 0, {3, 4});
  auto held = batch.next({});
  ASSERT_TRUE(held.isOk());
  EXPECT_EQ(batch.next({}).status().id(), "expert_slots_held");
  held = Status(Code::kCancelled, "", "");
  auto other = batch.next({});
  ASSERT_TRUE(other.isOk()) << other.status().message();
  EXPECT_TRUE(m_files.matches(0, 4, other->view()));
  EXPECT_FALSE(batch.hasNext());
}

TEST_F(ExpertStoreTest, FailedReadIsToldOnceAndTheStoreGoesOn) {
  for (const Fault fault : {Fault::kFail, Fault::kShort}) {
    for (const std::uint64_t slots : {1U, 4U, 36U}) {
      const auto store = open(slots);
      int reads = 0;
      m_control->choose = [&](const ReadRequest&) { return ++reads == 3 ? fault : Fault::kNone; };
      ExpertBatch batch = resolve(*store, 1, {0, 5, 7});
      std::vector<int> order;
      std::vector<Status> errors;
      while (batch.hasNext()) {
        auto lease = batch.next({});
        if (lease) {
          EXPECT_TRUE(m_files.matches(1, lease->expert(), lease->view()));
          order.push_back(lease->expert());
        } else {
          errors.push_back(lease.status());
        }
      }
      ASSERT_EQ(errors.size(), 1U);
      EXPECT_EQ(errors[0].code(), Code::kIo);
      EXPECT_THAT(errors[0].message(), HasSubstr("Layer 1, expert 5"));
      EXPECT_THAT(order, ::testing::UnorderedElementsAre(0, 7));
      ExpertBatch again = resolve(*store, 1, {5, 0});
      EXPECT_THAT(takeAll(m_files, 1, again), ::testing::UnorderedElementsAre(0, 5));
      EXPECT_EQ(store->stats().compulsoryMisses, 3U);
    }
  }
}

TEST_F(ExpertStoreTest, DriveThatAlwaysFailsNeverHandsOutBytes) {
  const auto store = open(2);
  m_control->choose = [](const ReadRequest&) { return Fault::kFail; };
  for (int round = 0; round < 3; ++round) {
    ExpertBatch batch = resolve(*store, 0, {1, 2, 3});
    int errors = 0;
    for (; batch.hasNext(); ++errors) EXPECT_EQ(batch.next({}).status().code(), Code::kIo);
    EXPECT_EQ(errors, 3);
  }
  m_control->choose = nullptr;
  m_control->refuseSubmits = true;
  {
    ExpertBatch batch = resolve(*store, 0, {1, 2, 3});
    while (batch.hasNext()) EXPECT_EQ(batch.next({}).status().id(), "injected");
  }
  m_control->refuseSubmits = false;
  ExpertBatch batch = resolve(*store, 0, {1, 2, 3});
  EXPECT_EQ(takeAll(m_files, 0, batch).size(), 3U);
}

TEST_F(ExpertStoreTest, SecondWantJoinsTheReadAndSharesItsError) {
  const auto store = open(8);
  m_control->stalled = true;
  ExpertBatch first = resolve(*store, 0, {1, 2});
  const std::size_t reads = m_control->log.size();
  ExpertBatch second = resolve(*store, 0, {2, 1});
  EXPECT_EQ(m_control->log.size(), reads);
  EXPECT_EQ(store->stats().misses, 2U);
  EXPECT_EQ(store->stats().hits, 2U);
  m_control->stalled = false;
  EXPECT_EQ(takeAll(m_files, 0, first).size(), 2U);
  EXPECT_EQ(takeAll(m_files, 0, second).size(), 2U);

  m_control->stalled = true;
  m_control->choose = [](const ReadRequest&) { return Fault::kFail; };
  ExpertBatch third = resolve(*store, 0, {9});
  ExpertBatch fourth = resolve(*store, 0, {9});
  m_control->stalled = false;
  EXPECT_EQ(third.next({}).status().code(), Code::kIo);
  EXPECT_EQ(fourth.next({}).status().code(), Code::kIo);
}

TEST_F(ExpertStoreTest, ReadsOfADroppedBatchFillTheirSlots) {
  const auto store = open(4);
  m_control->stalled = true;
  { const ExpertBatch dropped = resolve(*store, 2, {0, 1, 2, 3}); }
  const std::size_t reads = m_control->log.size();
  m_control->stalled = false;
  ExpertBatch batch = resolve(*store, 2, {3, 2, 1, 0});
  EXPECT_EQ(takeAll(m_files, 2, batch).size(), 4U);
  EXPECT_EQ(m_control->log.size(), reads);
  // A dropped batch holds nothing: all slots can be had again, also while its reads are in flight.
  m_control->stalled = true;
  { const ExpertBatch dropped = resolve(*store, 1, {0, 1, 2, 3}); }
  ExpertBatch other = resolve(*store, 0, {4, 5, 6, 7});
  m_control->stalled = false;
  EXPECT_EQ(takeAll(m_files, 0, other).size(), 4U);
}

TEST_F(ExpertStoreTest, CancelledWaitEndsAndMayGoOn) {
  const auto store = open(4);
  m_control->stalled = true;
  ExpertBatch batch = resolve(*store, 0, {1, 2});
  const Cancellation cancellation;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    cancellation.cancel();
  });
  EXPECT_EQ(batch.next(cancellation).status().code(), Code::kCancelled);
  canceller.join();
  EXPECT_GT(store->stats().waitSeconds, 0);
  m_control->stalled = false;
  EXPECT_TRUE(batch.hasNext());
  EXPECT_EQ(takeAll(m_files, 0, batch).size(), 2U);
}

TEST_F(ExpertStoreTest, StatsAndResidencyMayBeReadFromAnotherThread) {
  const auto store = open(5);
  std::atomic<bool> stop{false};
  std::uint64_t last = 0;
  std::thread reader([&] {
    while (!stop) {
      const ExpertStoreStats stats = store->stats();
      EXPECT_EQ(stats.requests, stats.hits + stats.misses);
      EXPECT_GE(stats.requests, last);
      last = stats.requests;
      EXPECT_EQ(store->residency().size(), 36U);
      std::this_thread::yield();
    }
  });
  std::mt19937_64 random(3);
  for (int step = 0; step < 60; ++step) {
    ExpertBatch batch = resolve(*store, step % ExpertFiles::kLayers, distinctExperts(random));
    takeAll(m_files, step % ExpertFiles::kLayers, batch);
  }
  stop = true;
  reader.join();
}

TEST_F(ExpertStoreTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(ExpertStore::create(m_files.layout(), m_files.backend(m_control), {0}, nullptr).status().code(),
            Code::kUsage);
  const auto store = open(3);
  EXPECT_FALSE(store->resolve(3, std::vector{0}).isOk());
  EXPECT_FALSE(store->resolve(-1, std::vector{0}).isOk());
  EXPECT_FALSE(store->resolve(0, std::vector{ExpertFiles::kExperts}).isOk());
  EXPECT_FALSE(store->resolve(0, std::vector{-1}).isOk());
  ExpertBatch nothing = resolve(*store, 0, {});
  EXPECT_FALSE(nothing.hasNext());
  EXPECT_FALSE(nothing.next({}).isOk());
}

TEST_F(ExpertStoreTest, ArenaIsChargedAndGivenBack) {
  const auto ledger = std::make_shared<Ledger>();
  {
    auto store = ExpertStore::create(m_files.layout(), m_files.backend(m_control), {1000}, ledger);
    ASSERT_TRUE(store.isOk());
    EXPECT_EQ((*store)->slots(), 36U);
    EXPECT_GE(ledger->bytes(MemoryTag::kExpertCache),
              static_cast<std::int64_t>(36 * ExpertStore::slotBytes(m_files.layout())));
  }
  EXPECT_EQ(ledger->total(), 0);
}

}  // namespace
}  // namespace colibri
