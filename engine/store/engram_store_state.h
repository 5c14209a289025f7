#pragma once
// What the engram store keeps; private to this folder.

#include "base/buffer.h"
#include "store/clock_policy.h"
#include "store/engram_sector_index.h"
#include "store/engram_store.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace colibri {

/// Rows that gather() works on at once, of the released width; fewer where rows are wider.
inline constexpr std::size_t kEngramBlockRows = 1024;
inline constexpr std::size_t kEngramBlockBytes = kEngramBlockRows * 264;

/// Bytes of one row as stored: its codes, then its scales.
[[nodiscard]] inline std::size_t engramRowBytes(int dim) {
  return static_cast<std::size_t>(dim) + static_cast<std::size_t>(dim / kEngramScaleBlock);
}
[[nodiscard]] inline std::size_t engramBlockRows(int dim) {
  return std::max<std::size_t>(1, kEngramBlockBytes / engramRowBytes(dim));
}
/// Sectors that a run of `bytes` anywhere can touch.
[[nodiscard]] inline std::size_t mostSectors(std::size_t bytes) {
  return (bytes + kEngramSectorBytes - 2) / kEngramSectorBytes + 1;
}

/// A part of a row that lies in one sector, and where it goes in the raw rows of a block.
struct EngramPiece {
  std::uint64_t key = 0;
  std::uint32_t from = 0;  ///< in the sector
  std::uint32_t bytes = 0;
  std::uint32_t to = 0;
  std::uint32_t row = 0;   ///< of the block
  std::uint32_t next = 0;  ///< piece that waits for the same sector
};

/// Sectors: EMPTY -> LOADING -> READY -> EMPTY; a failed read goes from LOADING to EMPTY. Pieces exist only while
/// gather() runs.
struct EngramStore::State {
  enum class SlotState : std::uint8_t { kEmpty, kLoading, kReady };
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint32_t kNone = EngramSectorIndex::kNoSlot;

  struct Slot {
    std::uint64_t key = EngramSectorIndex::kNoKey;
    std::uint64_t keptAt = 0;         ///< touches when it was asked for ahead
    std::uint32_t firstOfRead = 0;    ///< slot of the first sector that the same read fills
    std::uint32_t sectorsOfRead = 0;  ///< in that first slot
    std::uint32_t startedIn = 0;      ///< value of `gathers` when its read began
    std::uint32_t pieces = kNone;     ///< those that wait for it
    SlotState state = SlotState::kEmpty;
    ReadPriority priority = ReadPriority::kDemand;  ///< of its read
    bool isAhead = false;                           ///< read before a row of it was gathered
    bool isKept = false;                            ///< asked for and not gathered since
  };
  /// What a slot takes besides its sector.
  static constexpr std::size_t kSlotBytes = sizeof(Slot) + EngramSectorIndex::kBytesPerKey + 2 * sizeof(std::uint32_t);
  /// What gather() takes whatever the cache.
  [[nodiscard]] static std::size_t blockBytes(int dim);

  State(std::vector<EngramTable> engramTables, std::unique_ptr<ReadBackend> readBackend, Buffer sectorMemory,
        Buffer rawRows, std::size_t slotCount, std::shared_ptr<Ledger> sharedLedger);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  [[nodiscard]] static std::uint64_t keyOf(std::uint32_t shard, std::uint64_t sector) {
    return std::uint64_t{shard} << kSectorBits | sector;
  }
  static constexpr unsigned kSectorBits = 44;
  [[nodiscard]] std::byte* sectorMemory(std::uint32_t slot) const { return memory.data() + slot * kEngramSectorBytes; }

  /// Calls visit(EngramPiece) for each part of a row that is not resident, with `to` from the row's start.
  template <typename Visit>
  void eachPart(int table, std::int64_t row, const Visit& visit) const;
  template <typename Visit>
  static void eachSector(const Extent& tensor, std::uint64_t offset, std::uint64_t bytes, std::uint32_t to,
                         const Visit& visit);

  /// Begins to read a sector that is not here; its slot, or kNone when none can be had. submitRequests() follows.
  std::uint32_t startSector(std::uint64_t key, ReadPriority priority);
  std::uint32_t takeSlot(ReadPriority priority);
  static constexpr std::uint64_t kKeptTouches = 32;  ///< for each slot of the cache
  [[nodiscard]] bool isKept(const Slot& slot) const {
    // What was asked for long ago and never gathered (a turn that was cancelled) is not kept for ever.
    return slot.isKept && touches - slot.keptAt <= kKeptTouches * slots.size();
  }
  void promote(std::uint32_t slot, ReadPriority priority);
  /// Bytes of a read from `begin` to `end` that the file must hold.
  [[nodiscard]] std::uint64_t expectedBytes(std::uint32_t shard, std::uint64_t begin, std::uint64_t end) const;
  void submitRequests();
  void takeCompletions();
  void endRead(const ReadCompletion& completion);
  void endSector(std::uint32_t slot, const Status& status);

  void request(int table, std::span<const std::int64_t> rows, ReadPriority priority);
  /// Starts the sectors of `wanted`, which is empty then; false when the cache has no room for one.
  bool startWanted(ReadPriority priority);
  /// At most engramBlockRows(): brings all parts of the rows into `raw`.
  Status gatherRaw(int table, std::span<const std::int64_t> rows, const Cancellation& cancellation);
  /// Copies what is here; the rest waits at its sector or is named in `missing`.
  void placePieces(int table, std::span<const std::int64_t> rows);
  void startMissing();
  void attach(std::uint32_t slot, std::uint32_t piece);
  /// A row is gathered from the sector: it is not kept for it any more.
  void meet(std::uint32_t slot, std::uint32_t row);
  void copyPiece(std::uint32_t slot, const EngramPiece& piece) const;
  void detachAll();
  Status loadScales(const Cancellation& cancellation);
  /// The block's raw rows as values.
  Status decode(int table, std::span<const std::int64_t> rows, float* out);

  std::vector<EngramTable> tables;
  std::shared_ptr<Ledger> ledger;
  Buffer memory;                    ///< sectors; before the backend: reads in flight write into it until that is gone
  Buffer raw;                       ///< rows of a block as stored
  std::vector<Buffer> scaleMemory;  ///< by table, where scales are resident
  std::unique_ptr<ReadBackend> backend;
  std::vector<std::span<const std::uint8_t>> scales;  ///< by table: resident scales, or empty
  std::int64_t charged = 0;

  std::vector<Slot> slots;
  std::vector<std::uint32_t> emptySlots;  ///< highest first
  EngramSectorIndex index;
  ClockPolicy policy;
  std::uint32_t gathers = 0;  ///< begun so far
  std::uint64_t touches = 0;  ///< parts of rows gathered so far

  std::vector<EngramPiece> pieces;
  std::vector<std::uint32_t> missingPieces;  ///< those without a slot, sorted by sector
  std::size_t firstMissing = 0;
  std::vector<std::uint32_t> waitingSlots;  ///< all that pieces were attached to
  std::size_t sectorsAwaited = 0;
  std::vector<bool> rowMissed;
  Status failure;  ///< of a read that a piece waits for

  std::vector<std::uint64_t> wanted;  ///< scratch of request()
  std::vector<ReadRequest> requests;  ///< scratch of one submit
  std::vector<ReadCompletion> completions;
  std::size_t readsInFlight = 0;

  std::atomic<std::uint64_t> rowsGathered{0};
  std::atomic<std::uint64_t> rowHits{0};
  std::atomic<std::uint64_t> reads{0};
  std::atomic<std::uint64_t> bytesRead{0};
  std::atomic<std::int64_t> waitNanoseconds{0};
};

template <typename Visit>
void EngramStore::State::eachSector(const Extent& tensor, std::uint64_t offset, std::uint64_t bytes, std::uint32_t to,
                                    const Visit& visit) {
  for (std::uint64_t at = tensor.offset + offset, end = at + bytes; at < end;) {
    const std::uint64_t sector = at / kEngramSectorBytes;
    const std::uint64_t part = std::min(end, (sector + 1) * kEngramSectorBytes) - at;
    EngramPiece piece;
    piece.key = keyOf(tensor.shard, sector);
    piece.from = static_cast<std::uint32_t>(at % kEngramSectorBytes);
    piece.bytes = static_cast<std::uint32_t>(part);
    piece.to = to;
    visit(piece);
    to += piece.bytes;
    at += part;
  }
}

template <typename Visit>
void EngramStore::State::eachPart(int table, std::int64_t row, const Visit& visit) const {
  const EngramTable& place = tables[static_cast<std::size_t>(table)];
  const auto dim = static_cast<std::uint64_t>(place.dim);
  const std::uint64_t scaleCount = dim / kEngramScaleBlock;
  const auto number = static_cast<std::uint64_t>(row);
  eachSector(place.codes, number * dim, dim, 0, visit);
  if (!scales[static_cast<std::size_t>(table)].empty()) return;
  eachSector(place.scales, number * scaleCount, scaleCount, static_cast<std::uint32_t>(dim), visit);
}

}  // namespace colibri
