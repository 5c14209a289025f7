#include "io/drive_load.h"

#include <algorithm>
#include <cmath>

namespace colibri {
namespace {

constexpr double kFirstEdge = 8e-6;
constexpr double kBinsPerOctave = 4;
constexpr auto kRelaxed = std::memory_order_relaxed;

std::int64_t nanoseconds(DriveLoad::Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

std::size_t DriveLoad::binOf(double seconds) {
  if (seconds <= kFirstEdge) return 0;
  const double bin = std::ceil(std::log2(seconds / kFirstEdge) * kBinsPerOctave);
  return std::min(static_cast<std::size_t>(bin), kLatencyBins - 1);
}

double DriveLoad::upperEdge(std::size_t bin) {
  return kFirstEdge * std::exp2(static_cast<double>(bin) / kBinsPerOctave);
}

void DriveLoad::account(Clock::time_point now) {
  if (m_flying > 0 && now > m_accounted) {
    const double seconds = std::chrono::duration<double>(now - m_accounted).count();
    const double outstanding = static_cast<double>(m_outstanding.load(kRelaxed));
    m_byteSeconds.store(m_byteSeconds.load(kRelaxed) + outstanding * seconds, kRelaxed);
  }
  m_accounted = std::max(m_accounted, now);
}

void DriveLoad::begin(std::uint64_t bytes, Clock::time_point now) {
  account(now);
  if (m_flying++ == 0) m_busySince.store(now.time_since_epoch().count(), kRelaxed);
  m_outstanding.fetch_add(bytes, kRelaxed);
  m_asked += bytes;
}

void DriveLoad::end(std::uint64_t bytes, std::uint64_t arrived, Clock::time_point begun, Clock::time_point now) {
  account(now);
  m_outstanding.fetch_sub(bytes, kRelaxed);
  m_bytes.fetch_add(arrived, kRelaxed);
  m_requests.fetch_add(1, kRelaxed);
  m_latencyNanoseconds.fetch_add(nanoseconds(now - begun), kRelaxed);
  m_latencies[binOf(std::chrono::duration<double>(now - begun).count())].fetch_add(1, kRelaxed);
  if (--m_flying == 0) {
    const std::int64_t since = m_busySince.exchange(0, kRelaxed);
    m_busyNanoseconds.fetch_add(now.time_since_epoch().count() - since, kRelaxed);
  }
}

DriveCounters DriveLoad::counters() const {
  DriveCounters counters;
  counters.path = m_options.name;
  counters.bytesRead = m_bytes.load(kRelaxed);
  counters.requests = m_requests.load(kRelaxed);
  counters.outstandingBytes = m_outstanding.load(kRelaxed);
  std::int64_t busy = m_busyNanoseconds.load(kRelaxed);
  if (const std::int64_t since = m_busySince.load(kRelaxed); since != 0) {
    busy += std::max<std::int64_t>(Clock::now().time_since_epoch().count() - since, 0);
  }
  counters.busySeconds = static_cast<double>(busy) * 1e-9;
  if (counters.busySeconds > 0) counters.meanOutstandingBytes = m_byteSeconds.load(kRelaxed) / counters.busySeconds;
  if (counters.requests == 0) return counters;
  counters.latencyMeanSeconds =
      static_cast<double>(m_latencyNanoseconds.load(kRelaxed)) * 1e-9 / static_cast<double>(counters.requests);
  std::uint64_t total = 0;
  for (const auto& bin : m_latencies) total += bin.load(kRelaxed);
  std::uint64_t seen = 0;
  for (std::size_t bin = 0; bin < kLatencyBins; ++bin) {
    seen += m_latencies[bin].load(kRelaxed);
    if (seen * 100 < total * 99) continue;
    counters.latencyP99Seconds = upperEdge(bin);
    break;
  }
  return counters;
}

}  // namespace colibri
