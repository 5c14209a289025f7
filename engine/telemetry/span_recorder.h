#pragma once
// A timeline of what the engine did: the latest spans in a ring, written as a Chrome trace.

#include "base/buffer.h"
#include "base/ledger.h"
#include <colibri/status.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace colibri {

/// Something that took from `begin` to `end`.
struct Span {
  using Clock = std::chrono::steady_clock;
  const char* name = "";  ///< lives as long as the recorder
  Clock::time_point begin;
  Clock::time_point end;
  std::uint32_t track = 0;  ///< thread or drive that did it
  std::int32_t layer = -1;  ///< -1: of no layer
  std::int32_t tokens = 0;  ///< computed by it; 0: not told
  std::uint64_t bytes = 0;  ///< moved by it; 0: not told
};

/// Keeps the latest `capacity()` spans. record() and read() may be called from any thread, take no lock and allocate
/// nothing; whoever holds no recorder (a null pointer) records nothing. The other calls may run beside them.
class SpanRecorder {
public:
  /// About two hundred tokens of a large model whose experts come from disk; its trace file has at most 40 MB.
  static constexpr std::size_t kDefaultCapacity = std::size_t{1} << 17;
  /// Track of the thread that drives the passes.
  static constexpr std::uint32_t kEngineTrack = 0;

  /// `capacity` is rounded up to a power of two; 64 bytes each, charged as kReserve. kMemory when there is no room.
  static Result<std::unique_ptr<SpanRecorder>> create(std::shared_ptr<Ledger> ledger,
                                                      std::size_t capacity = kDefaultCapacity);

  /// Spans of one track must nest.
  void record(const Span& span) { put(span, Kind::kWork); }
  /// A finished read of a drive (`track`: its number). Reads of a drive may overlap.
  void recordRead(std::uint32_t drive, Span::Clock::time_point begin, Span::Clock::time_point end,
                  std::uint64_t bytes) {
    put({"read", begin, end, drive, -1, 0, bytes}, Kind::kRead);
  }

  /// What the trace calls a thread's or drive's track; else they are numbered.
  void nameThread(std::uint32_t track, std::string name);
  void nameDrive(std::uint32_t drive, std::string name);

  [[nodiscard]] std::size_t capacity() const { return m_mask + 1; }
  /// All spans recorded so far, those that the ring has forgotten included.
  [[nodiscard]] std::uint64_t recorded() const { return m_next.load(std::memory_order_relaxed); }

  /// Writes what the ring holds in the Trace Event Format (chrome://tracing, Perfetto): complete events for threads,
  /// asynchronous ones for drives, times in microseconds since the recorder was made. Spans that are being recorded
  /// meanwhile may be missing. The file appears whole or not at all. kIo.
  Status write(const std::filesystem::path& file) const;

private:
  enum class Kind : std::uint32_t { kWork, kRead };
  /// Fields are atomic so that a reader beside a writer sees old or new values, never undefined ones; `version` tells
  /// it whether they belong together.
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> version{0};  ///< 2 (ticket + 1) when whole, odd while being written
    std::atomic<const char*> name{nullptr};
    std::atomic<std::int64_t> begin{0};
    std::atomic<std::int64_t> end{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint32_t> track{0};
    std::atomic<Kind> kind{Kind::kWork};
    std::atomic<std::int32_t> layer{0};
    std::atomic<std::int32_t> tokens{0};
  };
  struct Entry {
    Span span;
    Kind kind = Kind::kWork;
  };

  SpanRecorder() = default;
  void put(const Span& span, Kind kind) {
    // Each store is a release and each load of the reader an acquire: the version cannot be seen out of order with
    // what it speaks for.
    constexpr auto kRelease = std::memory_order_release;
    const std::uint64_t ticket = m_next.fetch_add(1, std::memory_order_relaxed);
    Slot& slot = m_slots[ticket & m_mask];
    slot.version.store(2 * ticket + 1, std::memory_order_relaxed);
    slot.name.store(span.name, kRelease);
    slot.begin.store(span.begin.time_since_epoch().count(), kRelease);
    slot.end.store(span.end.time_since_epoch().count(), kRelease);
    slot.bytes.store(span.bytes, kRelease);
    slot.track.store(span.track, kRelease);
    slot.kind.store(kind, kRelease);
    slot.layer.store(span.layer, kRelease);
    slot.tokens.store(span.tokens, kRelease);
    slot.version.store(2 * ticket + 2, kRelease);
  }
  bool take(std::uint64_t ticket, Entry& entry) const;
  void writeEvents(std::ostream& out) const;

  Buffer m_memory;
  Slot* m_slots = nullptr;  ///< m_mask + 1 of them in m_memory
  std::uint64_t m_mask = 0;
  Span::Clock::time_point m_origin;
  mutable std::mutex m_namesMutex;
  std::map<std::uint32_t, std::string> m_threadNames;  ///< under m_namesMutex
  std::map<std::uint32_t, std::string> m_driveNames;   ///< under m_namesMutex
  alignas(64) std::atomic<std::uint64_t> m_next{0};    ///< alone on its line: every recording thread writes it
};

}  // namespace colibri
