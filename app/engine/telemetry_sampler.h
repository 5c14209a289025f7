#pragma once
// Reads the engine's counters at most 20 times a second on a thread of its own, so that a busy or stalled engine thread
// does not stop the figures and the GUI thread never calls the engine.

#include "app/engine/engine_messages.h"

#include <QObject>
#include <QTimer>

#include <atomic>
#include <memory>

namespace colibri::app {

/// Lives on its own thread; every call except acknowledge() belongs there.
class TelemetrySampler : public QObject {
  Q_OBJECT

public:
  TelemetrySampler();

  /// The engine to read, or nullptr. Held until replaced.
  void setEngine(std::shared_ptr<Engine> engine);
  /// True while an answer is being made: 20 samples a second instead of one.
  void setBusy(bool busy);
  /// The receiver has taken the last sample. Until then further ones are dropped, so that at most one is ever queued.
  /// Any thread.
  void acknowledge() { m_waiting.store(false); }

signals:
  void sampled(const colibri::app::TelemetrySample& sample);

private:
  void sample();

  std::shared_ptr<Engine> m_engine;
  QTimer m_timer;
  std::atomic<bool> m_waiting{false};
};

}  // namespace colibri::app
