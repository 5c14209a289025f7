#pragma once
// How much memory this process really holds, as the system counts it.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

namespace colibri {

/// Bytes of anonymous memory of this process that are in RAM now: heap, stacks and caches; neither mapped files nor
/// shared memory nor the page cache. From /proc/self/statm, resident less shared: about 2 microseconds, whatever
/// the process holds. nullopt where the system does not tell.
[[nodiscard]] std::optional<std::uint64_t> anonymousMemoryBytes();

/// Samples anonymousMemoryBytes() at most once an interval and keeps the highest. Thread-safe.
class AnonymousMemory {
public:
  using Clock = std::chrono::steady_clock;
  /// Where the figures come from; tests put their own in.
  using Source = std::optional<std::uint64_t> (*)();

  explicit AnonymousMemory(std::chrono::milliseconds interval, Source source = anonymousMemoryBytes)
      : m_interval(interval), m_source(source) {}

  /// Takes a sample when the last one is older than the interval, and returns the latest; 0: unknown. Costs one
  /// reading of the clock otherwise (about 30 ns).
  std::uint64_t sample(Clock::time_point now = Clock::now());
  /// Takes a sample now.
  std::uint64_t sampleNow(Clock::time_point now = Clock::now());

  /// The latest sample; 0: none yet.
  [[nodiscard]] std::uint64_t bytes() const { return m_bytes.load(std::memory_order_relaxed); }
  /// The highest sample since the last startPeak(), or of all.
  [[nodiscard]] std::uint64_t peak() const { return m_peak.load(std::memory_order_relaxed); }
  /// The peak starts again from a sample taken now.
  void startPeak();

private:
  std::chrono::milliseconds m_interval;
  Source m_source;
  std::mutex m_mutex;  ///< held while a sample is taken
  std::atomic<Clock::rep> m_next{Clock::time_point::min().time_since_epoch().count()};
  std::atomic<std::uint64_t> m_bytes{0};
  std::atomic<std::uint64_t> m_peak{0};
};

}  // namespace colibri
