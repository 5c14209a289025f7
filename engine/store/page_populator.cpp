#include "store/page_populator.h"

#include <algorithm>
#include <system_error>

#if defined(__linux__)
#include <sys/mman.h>
// Older C libraries lack the name; kernels before 5.14 answer EINVAL.
#if !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE 23
#endif
#endif

namespace colibri {
namespace {

// One call's worth: small enough that limit() does not wait long.
constexpr std::size_t kStep = std::size_t{16} << 20;

bool populate([[maybe_unused]] std::byte* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  return madvise(data, bytes, MADV_POPULATE_WRITE) == 0;
#else
  return false;
#endif
}

}  // namespace

std::unique_ptr<PagePopulator> PagePopulator::start(std::byte* data, std::size_t bytes, std::size_t ahead) {
#if defined(__linux__)
  std::unique_ptr<PagePopulator> populator(new PagePopulator(data, bytes, ahead));
  try {
    populator->m_thread = std::thread([raw = populator.get()] { raw->work(); });
  } catch (const std::system_error&) {
    return nullptr;
  }
  return populator;
#else
  (void)data;
  (void)bytes;
  (void)ahead;
  return nullptr;
#endif
}

PagePopulator::~PagePopulator() {
  {
    const std::lock_guard lock(m_mutex);
    m_stop = true;
  }
  m_changed.notify_all();
  if (m_thread.joinable()) m_thread.join();
}

void PagePopulator::reached(std::size_t bytes) {
  {
    const std::lock_guard lock(m_mutex);
    const std::size_t wanted = std::min(bytes + m_ahead, m_limit);
    if (wanted <= m_wanted) return;
    m_wanted = wanted;
  }
  m_changed.notify_all();
}

void PagePopulator::limit(std::size_t bytes) {
  std::unique_lock lock(m_mutex);
  m_limit = std::min(m_limit, bytes);
  m_wanted = std::min(m_wanted, m_limit);
  m_changed.wait(lock, [this] { return !m_working; });
}

void PagePopulator::work() {
  std::unique_lock lock(m_mutex);
  while (!m_stop) {
    if (m_populated >= m_wanted) {
      m_changed.wait(lock);
      continue;
    }
    const std::size_t first = m_populated;
    const std::size_t bytes = std::min(kStep, m_wanted - first);
    m_working = true;
    lock.unlock();
    const bool done = populate(m_data + first, bytes);
    lock.lock();
    m_working = false;
    m_changed.notify_all();
    // A refusal (an old kernel, no memory left) leaves the pages to their first use.
    m_populated = done ? first + bytes : m_limit;
  }
}

}  // namespace colibri
