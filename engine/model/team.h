#pragma once
// The compute team: one OpenMP team that runs numbered work items. Which thread runs an item never changes a result.

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace colibri {

/// Fixed-size team; the calling thread is its leader. Not re-entrant.
class Team {
public:
  explicit Team(int threads) : m_threads(std::max(1, threads)) {}

  /// Work of the leader that must not wait for the end of a long computation (keeping the drive's queue full): done on
  /// the calling thread after each of its items. Must be cheap and not use the team.
  void setLeaderWork(std::function<void()> work) { m_leaderWork = std::move(work); }

  [[nodiscard]] int threads() const { return m_threads; }

  /// Calls body(item, thread) for every item in [0, items); 0 <= thread < threads(). `work` is a rough count of
  /// multiply-adds: little work stays on the calling thread, because waking the team costs more than it saves.
  template <typename Body>
  void run(int items, std::int64_t work, const Body& body) const {
    if (items <= 1 || m_threads == 1 || work < kWorthWaking) {
      for (int item = 0; item < items; ++item) {
        body(item, 0);
        if (m_leaderWork) m_leaderWork();
      }
      return;
    }
#pragma omp parallel for num_threads(m_threads) schedule(static)
    for (int item = 0; item < items; ++item) {
      const int thread = omp_get_thread_num();
      body(item, thread);
      if (thread == 0 && m_leaderWork) m_leaderWork();
    }
  }

private:
  static constexpr std::int64_t kWorthWaking = 1 << 18;
  int m_threads;
  std::function<void()> m_leaderWork;
};

}  // namespace colibri
