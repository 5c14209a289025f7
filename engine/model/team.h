#pragma once
// The compute team: one OpenMP team that runs numbered work items. Which thread runs an item never changes a result.

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace colibri {

/// Fixed-size team; the calling thread is its leader. Not re-entrant.
class Team {
public:
  explicit Team(int threads) : m_threads(std::max(1, threads)) {}

  [[nodiscard]] int threads() const { return m_threads; }

  /// Calls body(item, thread) for every item in [0, items); 0 <= thread < threads(). `work` is a rough count of
  /// multiply-adds: little work stays on the calling thread, because waking the team costs more than it saves.
  template <typename Body>
  void run(int items, std::int64_t work, const Body& body) const {
    if (items <= 1 || m_threads == 1 || work < kWorthWaking) {
      for (int item = 0; item < items; ++item) body(item, 0);
      return;
    }
#pragma omp parallel for num_threads(m_threads) schedule(static)
    for (int item = 0; item < items; ++item) body(item, omp_get_thread_num());
  }

private:
  static constexpr std::int64_t kWorthWaking = 1 << 18;
  int m_threads;
};

}  // namespace colibri
