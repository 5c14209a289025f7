#pragma once
// What the expert store and its batches keep; private to this folder.

#include "base/buffer.h"
#include "store/clock_policy.h"
#include "store/expert_store.h"
#include "store/page_populator.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace colibri {

/// Reads that are looked after at once.
inline constexpr std::size_t kCompletionsAtOnce = 64;
/// Half of what a user may wait for a cancellation.
inline constexpr std::chrono::milliseconds kStoreCancelCheck{50};
/// Low bits of a read's tag, which name the extent; the others name the slot.
inline constexpr std::uint32_t kExtentBits = 8;

/// Bytes of a slot that one extent takes: the blocks that it touches.
[[nodiscard]] inline std::uint64_t windowBytes(const Extent& extent) {
  return alignUp(extent.offset + extent.bytes) - alignDown(extent.offset);
}

[[nodiscard]] inline std::uint64_t windowBytes(const ExpertPlace& place) {
  std::uint64_t bytes = 0;
  for (const Extent& extent : place.extents) bytes += windowBytes(extent);
  return bytes;
}

/// What has been handed to one batch but not yet by it: a pinned slot, or the reason why there is none.
struct ExpertArrival {
  int expert = -1;
  std::uint32_t slot = 0;
  Status status;
};

struct ExpertBatch::State {
  ExpertStore::State* store = nullptr;
  int layer = 0;
  std::vector<int> waiting;  ///< experts without a slot, from firstWaiting on
  std::size_t firstWaiting = 0;
  std::vector<std::uint32_t> loading;  ///< slots whose read this batch waits for, pinned
  std::vector<ExpertArrival> arrived;  ///< hits, then arrivals, from firstArrived on; pinned
  std::size_t firstArrived = 0;

  void reset(ExpertStore::State* owner, int newLayer);
  [[nodiscard]] bool hasArrived() const { return firstArrived < arrived.size(); }
  [[nodiscard]] bool hasWaiting() const { return firstWaiting < waiting.size(); }
};

/// EMPTY -> LOADING -> READY -> EMPTY; a failed read goes from LOADING to EMPTY. RETIRED slots have given their memory
/// back.
struct ExpertStore::State {
  enum class SlotState : std::uint8_t { kEmpty, kLoading, kReady, kRetired };
  using Clock = std::chrono::steady_clock;

  struct Slot {
    SlotState state = SlotState::kEmpty;
    std::uint32_t epoch = 0;  ///< changes with every new tenant
    std::uint32_t pins = 0;   ///< leases, and batches that have not handed it out
    std::uint32_t readsLeft = 0;
    ReadPriority ahead = ReadPriority::kDemand;  ///< other than kDemand: read ahead and not wanted yet
    std::uint64_t keptRound = 0;  ///< the round in which it is certain to be wanted: the last to be given up
    int layer = -1;
    int expert = -1;
    ExpertView view;
    std::vector<ExpertBatch::State*> waiters;
    std::unique_ptr<Status> failure;  ///< first failed read of this tenant
  };

  State(ExpertStore& owner, ExpertLayout expertLayout, std::unique_ptr<ReadBackend> readBackend, Buffer memory,
        std::size_t slotCount, UsageHistory* usageHistory);

  [[nodiscard]] std::size_t flatIndex(int layer, int expert) const {
    return layerStarts[static_cast<std::size_t>(layer)] + static_cast<std::size_t>(expert);
  }
  [[nodiscard]] std::byte* slotMemory(std::uint32_t slot) const { return arena.data() + slot * bytesPerSlot; }

  /// kInternal when there is no such expert.
  [[nodiscard]] Status checkRange(int layer, std::span<const int> experts) const;
  /// Gives the batch its expert when that is resident or on its way; false when it must be read.
  bool join(ExpertBatch::State& batch, int expert);
  /// Starts as many of the batch's waiting experts as there are slots to be had, in one submit.
  void startWaiting(ExpertBatch::State& batch);
  /// Counts a want that needs or needed a read of its own.
  void countMiss(std::size_t flat, const ExpertPlace& place);
  /// The first want of an expert that was read ahead.
  void meetAhead(std::uint32_t slot);
  /// An empty slot, or one given up by the policy; kNoSlot when all are pinned or loading. For reads ahead what was
  /// itself read ahead is not given up.
  std::uint32_t takeSlot(ReadPriority priority);
  void giveUp(std::uint32_t slot);
  [[nodiscard]] bool isKept(const Slot& slot) const { return slot.keptRound == round; }
  /// Puts the reads of one expert into `requests`; the slot is LOADING then.
  void startLoading(std::uint32_t slot, int layer, int expert, ReadPriority priority);
  void submitRequests();
  /// Takes all completions that are there.
  void takeCompletions();
  void endRead(const ReadCompletion& completion);
  void endLoading(std::uint32_t slot);
  void unpin(std::uint32_t slot) { --slotTable[slot].pins; }
  std::unique_ptr<ExpertBatch::State> newBatch(int layer);
  void endBatch(std::unique_ptr<ExpertBatch::State> batch);

  static constexpr std::uint32_t kNoSlot = 0xffffffffU;

  ExpertStore& store;
  ExpertLayout layout;
  std::uint64_t bytesPerSlot = 0;
  UsageHistory* history = nullptr;
  Buffer arena;  ///< before the backend: reads in flight write into it until the backend is gone
  std::unique_ptr<ReadBackend> backend;
  std::vector<std::size_t> layerStarts;
  std::vector<std::uint32_t> slotOf;                ///< by flat index; kNoSlot when not resident
  std::vector<bool> wantedBefore;                   ///< by flat index
  std::vector<std::atomic<std::uint8_t>> resident;  ///< by flat index
  std::vector<Slot> slotTable;
  std::vector<std::uint32_t> emptySlots;                  ///< highest first, so that low memory is used first
  std::uint64_t round = 1;                                ///< of startRound()
  std::size_t touchedSlots = 0;                           ///< slots below were used once
  std::array<std::size_t, kReadPriorities> aheadSlots{};  ///< by priority: slots read ahead and not wanted yet
  ClockPolicy policy;
  std::unique_ptr<PagePopulator> populator;  ///< null where pages come by themselves

  std::vector<ReadRequest> requests;  ///< scratch of one submit
  std::vector<ReadCompletion> completions;
  std::vector<std::unique_ptr<ExpertBatch::State>> batchPool;

  std::size_t readsInFlight = 0;
  Clock::time_point lastReadEnd;
  std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> misses{0};
  std::atomic<std::uint64_t> compulsoryMisses{0};
  std::atomic<std::uint64_t> bytesMissed{0};
  std::atomic<std::uint64_t> bytesRead{0};
  std::atomic<std::uint64_t> prefetched{0};
  std::atomic<std::uint64_t> prefetchedUsed{0};
  std::atomic<std::uint64_t> prefetchedUnused{0};
  std::atomic<std::uint64_t> activeSlots{0};
  std::atomic<std::int64_t> waitNanoseconds{0};
  std::atomic<std::int64_t> readNanoseconds{0};
  std::atomic<std::int64_t> readingSince{0};  ///< of the steady clock; 0 while nothing is in flight
};

}  // namespace colibri
