#pragma once
// Where an answer's time goes: one accumulator a cause, switched by the leader thread.

#include "telemetry/span_recorder.h"

#include <array>
#include <chrono>
#include <cstddef>

namespace colibri {

enum class TimeCause : std::size_t { kDiskWait, kExperts, kDense, kAttention, kOther, kCount };

/// Name on the timeline ("disk wait").
[[nodiscard]] const char* timeCauseName(TimeCause cause);

/// Attributes wall time to exactly one cause at a time, so the parts add up to the whole. With a recorder the same
/// split appears on the timeline: passes hold layers, layers hold causes. Leader thread only; no allocation.
class TimeLedger {
public:
  using Clock = std::chrono::steady_clock;

  /// `recorder` may be null; it outlives the ledger.
  explicit TimeLedger(SpanRecorder* recorder = nullptr) : m_recorder(recorder) {}
  TimeLedger(const TimeLedger&) = delete;
  TimeLedger& operator=(const TimeLedger&) = delete;
  ~TimeLedger() {
    if (m_recorder != nullptr) closeCause(m_since);
  }

  /// Charges the time since the last switch to the current cause and makes `cause` current; returns the previous one.
  TimeCause enter(TimeCause cause) { return enterAt(cause, Clock::now()); }

  /// A pass over all layers begins; `name` is a literal.
  void beginPass(const char* name, int tokens, TimeCause cause) {
    const auto now = Clock::now();
    enterAt(cause, now);
    if (m_recorder == nullptr) return;
    closeCause(now);
    m_pass = {name, now, now, SpanRecorder::kEngineTrack, -1, tokens, 0};
  }
  /// The layer before, if any, ends where this one begins.
  void beginLayer(int layer) {
    if (m_recorder == nullptr) return;
    const auto now = Clock::now();
    enterAt(m_cause, now);
    closeLayer(now);
    m_layer = layer;
    m_layerSince = now;
  }
  void endLayers() {
    if (m_recorder == nullptr) return;
    const auto now = Clock::now();
    enterAt(m_cause, now);
    closeLayer(now);
  }
  void endPass(TimeCause cause) {
    const auto now = Clock::now();
    enterAt(cause, now);
    if (m_recorder == nullptr) return;
    closeLayer(now);
    m_pass.end = now;
    m_recorder->record(m_pass);
  }

  [[nodiscard]] TimeCause current() const { return m_cause; }
  [[nodiscard]] double seconds(TimeCause cause) const { return m_seconds[static_cast<std::size_t>(cause)]; }
  [[nodiscard]] double total() const {
    double sum = 0;
    for (const double part : m_seconds) sum += part;
    return sum;
  }

private:
  TimeCause enterAt(TimeCause cause, Clock::time_point now) {
    m_seconds[static_cast<std::size_t>(m_cause)] += std::chrono::duration<double>(now - m_since).count();
    m_since = now;
    if (m_recorder != nullptr && cause != m_cause) closeCause(now);
    const TimeCause previous = m_cause;
    m_cause = cause;
    return previous;
  }
  void closeCause(Clock::time_point now) {
    if (now > m_causeSince) {
      m_recorder->record({timeCauseName(m_cause), m_causeSince, now, SpanRecorder::kEngineTrack, m_layer, 0, 0});
    }
    m_causeSince = now;
  }
  void closeLayer(Clock::time_point now) {
    closeCause(now);
    if (m_layer >= 0) m_recorder->record({"layer", m_layerSince, now, SpanRecorder::kEngineTrack, m_layer, 0, 0});
    m_layer = -1;
  }

  std::array<double, static_cast<std::size_t>(TimeCause::kCount)> m_seconds{};
  TimeCause m_cause = TimeCause::kOther;
  Clock::time_point m_since = Clock::now();
  SpanRecorder* m_recorder;
  // Where the spans that are open began; only with a recorder.
  Clock::time_point m_causeSince = m_since;
  int m_layer = -1;
  Clock::time_point m_layerSince;
  Span m_pass;
};

/// One pass on the timeline: from here to the end of the scope, which charges what follows to kOther.
class PassScope {
public:
  PassScope(TimeLedger& ledger, const char* name, int tokens, TimeCause first) : m_ledger(&ledger) {
    ledger.beginPass(name, tokens, first);
  }
  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;
  ~PassScope() { m_ledger->endPass(TimeCause::kOther); }

private:
  TimeLedger* m_ledger;
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
