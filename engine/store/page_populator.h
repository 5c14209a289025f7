#pragma once
// Takes an arena's pages from the system ahead of their use. Clearing a page costs as much as reading a third of it
// from a fast drive; done inside a read it would hold up the thread that computes.

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>

namespace colibri {

/// Owns a thread that stays `ahead` bytes before the furthest use and sleeps otherwise. The memory outlives it; its
/// contents are never changed.
class PagePopulator {
public:
  /// nullptr where the system cannot populate pages without writing to them, or gives no thread.
  static std::unique_ptr<PagePopulator> start(std::byte* data, std::size_t bytes, std::size_t ahead);
  PagePopulator(const PagePopulator&) = delete;
  PagePopulator& operator=(const PagePopulator&) = delete;
  ~PagePopulator();

  /// The first `bytes` bytes are in use. Cheap; any thread.
  void reached(std::size_t bytes);
  /// Nothing from `bytes` on will be used: no page is taken there any more. Returns when that holds.
  void limit(std::size_t bytes);

private:
  PagePopulator(std::byte* data, std::size_t bytes, std::size_t ahead)
      : m_data(data), m_ahead(ahead), m_limit(bytes), m_wanted(ahead < bytes ? ahead : bytes) {}
  void work();

  std::byte* m_data;
  std::size_t m_ahead;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::size_t m_limit;          ///< under m_mutex
  std::size_t m_wanted;         ///< under m_mutex
  std::size_t m_populated = 0;  ///< under m_mutex
  bool m_working = false;       ///< under m_mutex: a call is being made for pages from m_populated on
  bool m_stop = false;          ///< under m_mutex
  std::thread m_thread;
};

}  // namespace colibri
