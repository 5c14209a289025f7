#pragma once
// What one drive is doing: places in its queue, outstanding bytes, and the counters that come of it.

#include "io/read_backend.h"
#include <colibri/drive_counters.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace colibri {

/// begin() and end() are called by one thread at a time; counters() and the const calls by any.
class DriveLoad {
public:
  using Clock = std::chrono::steady_clock;
  DriveLoad(DriveOptions options, int queueDepth) : m_options(std::move(options)), m_depth(queueDepth) {}

  [[nodiscard]] double weight() const { return m_options.weight; }
  [[nodiscard]] int depth() const { return m_depth; }
  [[nodiscard]] bool hasPlace() const { return m_flying < m_depth; }
  /// Outstanding bytes for the drive's weight if `bytes` more were asked of it.
  [[nodiscard]] double loadWith(std::uint64_t bytes) const {
    return static_cast<double>(m_outstanding.load(std::memory_order_relaxed) + bytes) / m_options.weight;
  }
  /// Bytes asked of the drive so far for its weight: decides between drives that are equally loaded.
  [[nodiscard]] double shareSoFar() const { return static_cast<double>(m_asked) / m_options.weight; }
  [[nodiscard]] const std::string& name() const { return m_options.name; }

  void begin(std::uint64_t bytes, Clock::time_point now);
  /// `bytes` as at begin(); `arrived` of them were brought.
  void end(std::uint64_t bytes, std::uint64_t arrived, Clock::time_point begun, Clock::time_point now);

  /// All but direct, reason and fault, which the files know.
  [[nodiscard]] DriveCounters counters() const;

private:
  // Bins of a quarter octave from 8 microseconds on: the last one begins at 100 s.
  static constexpr std::size_t kLatencyBins = 96;
  static std::size_t binOf(double seconds);
  static double upperEdge(std::size_t bin);
  void account(Clock::time_point now);

  DriveOptions m_options;
  int m_depth = 1;
  int m_flying = 0;
  std::uint64_t m_asked = 0;
  Clock::time_point m_accounted;  ///< up to here busy time and its integral are counted
  std::atomic<std::uint64_t> m_outstanding{0};
  std::atomic<std::uint64_t> m_bytes{0};
  std::atomic<std::uint64_t> m_requests{0};
  std::atomic<std::int64_t> m_busyNanoseconds{0};
  std::atomic<std::int64_t> m_busySince{0};  ///< of the steady clock; 0 while nothing is in flight
  std::atomic<std::int64_t> m_latencyNanoseconds{0};
  std::atomic<double> m_byteSeconds{0};  ///< integral of outstanding bytes over time
  std::array<std::atomic<std::uint32_t>, kLatencyBins> m_latencies{};
};

}  // namespace colibri
