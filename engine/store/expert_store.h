#pragma once
// The cache of routed experts: slots in RAM filled from disk, handed out as pinned leases.

#include "base/ledger.h"
#include "checkpoint/expert_layout.h"
#include "io/read_backend.h"
#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace colibri {

/// The bytes of one expert, in the released layout, where they landed. Valid while the lease lives.
struct ExpertView {
  std::array<const std::uint8_t*, kExpertParts> parts{};
  [[nodiscard]] const std::uint8_t* part(ExpertPart p) const { return parts[static_cast<std::size_t>(p)]; }
};

struct ExpertStoreStats {
  std::uint64_t requests = 0;  ///< hits + misses
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;            ///< needed a read made for this want, also when that was begun ahead of it
  std::uint64_t compulsoryMisses = 0;  ///< first want of that expert ever
  std::uint64_t bytesMissed = 0;       ///< misses x expert payload bytes
  std::uint64_t bytesRead = 0;         ///< what the read calls asked of the files
  std::uint64_t prefetched = 0;        ///< experts read ahead of a want
  std::uint64_t prefetchedUsed = 0;    ///< of those, wanted later
  std::uint64_t prefetchedUnused = 0;  ///< of those, given up before they were wanted
  double waitSeconds = 0;              ///< time the caller waited for a read
  double readSeconds = 0;              ///< time with at least one read in flight
};

class UsageHistory;

struct ExpertStoreOptions {
  std::uint64_t slots = 1;  ///< >= 1, in all layers together; more than there are experts are not made
  /// Told of every want; outlives the store. May be null.
  UsageHistory* history = nullptr;
};

class ExpertStore;

/// RAII pin of one slot. Move-only; must not outlive the store. Released on the owner thread; view() may be called by
/// any. Debug and sanitizer builds check the slot's epoch on use.
class ExpertLease {
public:
  ExpertLease() = default;
  ExpertLease(ExpertLease&& other) noexcept;
  ExpertLease& operator=(ExpertLease&& other) noexcept;
  ~ExpertLease();
  [[nodiscard]] int expert() const { return m_expert; }
  [[nodiscard]] ExpertView view() const;

private:
  friend class ExpertBatch;
  ExpertStore* m_store = nullptr;
  std::uint32_t m_slot = 0;
  std::uint32_t m_epoch = 0;
  int m_expert = -1;
};

/// One layer's wants. next() hands out each expert exactly once, hits first, then in order of arrival; when there are
/// fewer slots than wants it goes on in waves (drop the previous lease before calling next()).
class ExpertBatch {
public:
  ExpertBatch(ExpertBatch&& other) noexcept;
  ExpertBatch& operator=(ExpertBatch&& other) noexcept;
  ~ExpertBatch();  ///< unpins; reads in flight go on and fill their slots
  /// True while an expert has not been handed out.
  [[nodiscard]] bool hasNext() const;
  /// The next expert; waits for its read. An error is either a failed read of one expert, which then counts as handed
  /// out, or kCancelled within 100 ms of the cancellation, after which the batch can go on; kInternal when every slot
  /// is held by leases.
  Result<ExpertLease> next(const Cancellation& cancellation);

private:
  friend class ExpertStore;
  struct State;
  explicit ExpertBatch(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

/// One owner thread (the engine's leader) makes all calls. Stats, residency and heat may be read from any thread.
class ExpertStore {
public:
  /// Reserves the arena (kMemory when it does not fit); its pages are taken from the system as slots are first filled.
  /// `backend` files are the layout's shards, in that order, and only this store uses it.
  static Result<std::unique_ptr<ExpertStore>> create(ExpertLayout layout, std::unique_ptr<ReadBackend> backend,
                                                     const ExpertStoreOptions& options, std::shared_ptr<Ledger> ledger);
  ~ExpertStore();

  /// Starts the wants of one layer: stamps hits, joins reads in flight, reserves victims (never one this call needs)
  /// and submits the misses as one batch. `experts`: distinct ids of `layer`. Batches of different sessions may
  /// alternate, not nest.
  /// `decode`: the wants of generated tokens, for the usage history.
  Result<ExpertBatch> resolve(int layer, std::span<const int> experts, bool decode = false);

  /// Reads ahead what will be wanted: kCertain experts keep their slot until they are wanted or startRound() is called,
  /// kPredicted ones until somebody else needs it. Half of the slots at most hold certain experts not wanted yet, a
  /// quarter predicted ones. Returns how many of `experts`, from the first on, are here or on their way.
  std::size_t prefetch(int layer, std::span<const int> experts, ReadPriority priority);
  /// What was read ahead for certain and not wanted since is no longer kept.
  void startRound();
  /// Fills empty slots with these experts (flat indices: layers one after another) in their order, as far as slots go,
  /// and waits for them. Tells bytes read and bytes in all. kCancelled (what has arrived stays), kIo (the rest is still
  /// read).
  Status preload(std::span<const std::uint32_t> flatExperts,
                 const std::function<void(std::uint64_t, std::uint64_t)>& progress, const Cancellation& cancellation);
  /// Gives memory of at least `bytes` back to the system, as far as slots can be spared (one remains, and those that
  /// are pinned or being read); the bytes given back. Slots that hold nothing go first.
  std::uint64_t shrink(std::uint64_t bytes);

  /// Takes finished reads and keeps the drive's queue full without waiting. Cheap; for long computations between two
  /// next().
  void poll();

  [[nodiscard]] ExpertStoreStats stats() const;
  /// Slots that there are now; thread-safe.
  [[nodiscard]] std::uint64_t slots() const;
  [[nodiscard]] ReadBackend& backend();
  [[nodiscard]] const ExpertLayout& layout() const;
  /// 1 where the expert is resident, `[layer][expert]` flattened by layer; thread-safe snapshot for telemetry.
  [[nodiscard]] std::vector<std::uint8_t> residency() const;
  /// Decayed use, 0 to 255, in the same order; thread-safe snapshot for telemetry.
  [[nodiscard]] std::vector<std::uint8_t> heat() const;
  /// Bytes of RAM that one slot takes (its payload, read windows and alignment).
  [[nodiscard]] static std::uint64_t slotBytes(const ExpertLayout& layout);

private:
  friend class ExpertLease;
  friend class ExpertBatch;
  ExpertStore();
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace colibri
