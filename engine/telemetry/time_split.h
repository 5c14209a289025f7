#pragma once
// Where an answer's time goes: one accumulator a cause, switched by the leader thread.

#include <array>
#include <chrono>
#include <cstddef>

namespace colibri {

enum class TimeCause : std::size_t { kDiskWait, kExperts, kDense, kAttention, kOther, kCount };

/// Attributes wall time to exactly one cause at a time, so the parts add up to the whole. Leader thread only; no
/// allocation.
class TimeLedger {
public:
  using Clock = std::chrono::steady_clock;
  /// Charges the time since the last switch to the current cause and makes `cause` current; returns the previous one.
  TimeCause enter(TimeCause cause) {
    const auto now = Clock::now();
    m_seconds[static_cast<std::size_t>(m_cause)] += std::chrono::duration<double>(now - m_since).count();
    m_since = now;
    const TimeCause previous = m_cause;
    m_cause = cause;
    return previous;
  }
  [[nodiscard]] double seconds(TimeCause cause) const { return m_seconds[static_cast<std::size_t>(cause)]; }
  [[nodiscard]] double total() const {
    double sum = 0;
    for (const double part : m_seconds) sum += part;
    return sum;
  }

private:
  std::array<double, static_cast<std::size_t>(TimeCause::kCount)> m_seconds{};
  TimeCause m_cause = TimeCause::kOther;
  Clock::time_point m_since = Clock::now();
};

/// Charges a scope to a cause and restores the one before.
class TimeScope {
public:
  TimeScope(TimeLedger& ledger, TimeCause cause) : m_ledger(&ledger), m_previous(ledger.enter(cause)) {}
  TimeScope(const TimeScope&) = delete;
  TimeScope& operator=(const TimeScope&) = delete;
  ~TimeScope() { m_ledger->enter(m_previous); }

private:
  TimeLedger* m_ledger;
  TimeCause m_previous;
};

}  // namespace colibri
