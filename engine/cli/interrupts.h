#pragma once
// Ctrl-C: stops the work in progress, and only when there is none, the program.

#include <colibri/cancellation.h>

#include <mutex>
#include <optional>

namespace colibri {

/// Shared between the thread that works and the one that hears of signals. Thread-safe.
class Interrupts {
public:
  /// Starts a piece of work that can be interrupted; its flag. Ends when `Work` is destroyed.
  class Work {
  public:
    explicit Work(Interrupts& owner) : m_owner(&owner) {
      const std::lock_guard lock(owner.m_mutex);
      owner.m_current = m_cancellation;
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    ~Work() {
      const std::lock_guard lock(m_owner->m_mutex);
      m_owner->m_current.reset();
    }
    [[nodiscard]] const Cancellation& cancellation() const { return m_cancellation; }

  private:
    Interrupts* m_owner;
    Cancellation m_cancellation;
  };

  /// Asks the current work to stop. False when there is none or it was asked before: then the program should end.
  bool interrupt() {
    const std::lock_guard lock(m_mutex);
    if (!m_current || m_current->isCancelled()) return false;
    m_current->cancel();
    return true;
  }

private:
  std::mutex m_mutex;
  std::optional<Cancellation> m_current;
};

}  // namespace colibri
