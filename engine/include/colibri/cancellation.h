#pragma once
// Cooperative cancellation: one flag, set from any thread, read between tiles and reads.

#include <atomic>
#include <memory>

namespace colibri {

/// A copyable handle to one flag. A default-made handle has a flag of its own. All calls are thread-safe and lock-free.
class Cancellation {
public:
  Cancellation() : m_flag(std::make_shared<std::atomic<bool>>(false)) {}

  void cancel() const { m_flag->store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool isCancelled() const { return m_flag->load(std::memory_order_relaxed); }

private:
  std::shared_ptr<std::atomic<bool>> m_flag;
};

}  // namespace colibri
