#include "base/process_memory.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#if defined(__linux__)
#include <fcntl.h>
#include <unistd.h>
#endif

namespace colibri {

#if defined(__linux__)
std::optional<std::uint64_t> anonymousMemoryBytes() {
  // RssAnon of /proc/self/status is the same figure, but the kernel takes ten times as long to write that file.
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 256> text;
  const ssize_t size = read(file, text.data(), text.size());
  (void)close(file);
  if (size <= 0) return std::nullopt;
  // "size resident shared …", in pages
  std::array<std::uint64_t, 3> pages{};
  const char* at = text.data();
  const char* const end = at + size;
  for (std::uint64_t& value : pages) {
    while (at != end && *at == ' ') ++at;
    const auto [rest, error] = std::from_chars(at, end, value);
    if (error != std::errc()) return std::nullopt;
    at = rest;
  }
  if (pages[1] < pages[2]) return std::nullopt;
  return (pages[1] - pages[2]) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}
#else
std::optional<std::uint64_t> anonymousMemoryBytes() {
  return std::nullopt;
}
#endif

std::uint64_t AnonymousMemory::sample(Clock::time_point now) {
  if (now.time_since_epoch().count() < m_next.load(std::memory_order_relaxed)) return bytes();
  return sampleNow(now);
}

std::uint64_t AnonymousMemory::sampleNow(Clock::time_point now) {
  const std::lock_guard lock(m_mutex);
  const std::uint64_t held = m_source().value_or(0);
  m_bytes.store(held, std::memory_order_relaxed);
  m_peak.store(std::max(held, peak()), std::memory_order_relaxed);
  m_next.store((now + m_interval).time_since_epoch().count(), std::memory_order_relaxed);
  return held;
}

void AnonymousMemory::startPeak() {
  m_peak.store(0, std::memory_order_relaxed);
  sampleNow();
}

}  // namespace colibri
