#pragma once
// What the expert store and its batches keep; private to this folder.

#include "base/buffer.h"
#include "store/clock_policy.h"
#include "store/expert_store.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace colibri {

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

/// EMPTY -> LOADING -> READY -> EMPTY; a failed read goes from LOADING to EMPTY.
struct ExpertStore::State {
  enum class SlotState : std::uint8_t { kEmpty, kLoading, kReady };
  using Clock = std::chrono::steady_clock;

  struct Slot {
    SlotState state = SlotState::kEmpty;
    std::uint32_t epoch = 0;  ///< changes with every new tenant
    std::uint32_t pins = 0;   ///< leases, and batches that have not handed it out
    std::uint32_t readsLeft = 0;
    int layer = -1;
    int expert = -1;
    ExpertView view;
    std::vector<ExpertBatch::State*> waiters;
    std::unique_ptr<Status> failure;  ///< first failed read of this tenant
  };

  State(ExpertStore& owner, ExpertLayout expertLayout, std::unique_ptr<ReadBackend> readBackend, Buffer memory,
        std::size_t slotCount);

  [[nodiscard]] std::size_t flatIndex(int layer, int expert) const {
    return layerStarts[static_cast<std::size_t>(layer)] + static_cast<std::size_t>(expert);
  }
  [[nodiscard]] std::byte* slotMemory(std::uint32_t slot) const { return arena.data() + slot * bytesPerSlot; }

  /// Gives the batch its expert when that is resident or on its way; false when it must be read.
  bool join(ExpertBatch::State& batch, int expert);
  /// Starts as many of the batch's waiting experts as there are slots to be had, in one submit.
  void startWaiting(ExpertBatch::State& batch);
  /// An empty slot, or one given up by the policy; kNoSlot when all are pinned or loading.
  std::uint32_t takeSlot();
  void startLoading(std::uint32_t slot, ExpertBatch::State& batch, int expert);
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
  Buffer arena;  ///< before the backend: reads in flight write into it until the backend is gone
  std::unique_ptr<ReadBackend> backend;
  std::vector<std::size_t> layerStarts;
  std::vector<std::uint32_t> slotOf;                ///< by flat index; kNoSlot when not resident
  std::vector<bool> wantedBefore;                   ///< by flat index
  std::vector<std::atomic<std::uint8_t>> resident;  ///< by flat index
  std::vector<Slot> slotTable;
  std::vector<std::uint32_t> emptySlots;
  ClockPolicy policy;

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
  std::vector<std::atomic<std::uint64_t>> bytesReadByShard;
  std::atomic<std::int64_t> waitNanoseconds{0};
  std::atomic<std::int64_t> readNanoseconds{0};
  std::atomic<std::int64_t> readingSince{0};  ///< of the steady clock; 0 while nothing is in flight
};

}  // namespace colibri
