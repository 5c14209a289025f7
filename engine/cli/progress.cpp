#include "cli/progress.h"

#include <ostream>

namespace colibri {

void ProgressLine::show(const std::string& what, std::uint64_t done, std::uint64_t total) {
  if (!m_visible) return;
  const auto now = std::chrono::steady_clock::now();
  if (m_drawn && done != total && now - m_last < std::chrono::milliseconds(100)) return;
  m_last = now;
  m_drawn = true;
  *m_stream << "\r\x1b[K" << what;
  if (total > 0) {
    constexpr int kWidth = 24;
    const double share = static_cast<double>(done) / static_cast<double>(total);
    const int filled = static_cast<int>(share * kWidth);
    *m_stream << " [" << std::string(static_cast<std::size_t>(filled), '#')
              << std::string(static_cast<std::size_t>(kWidth - filled), '.') << "] " << static_cast<int>(share * 100)
              << "%";
  }
  m_stream->flush();
}

void ProgressLine::clear() {
  if (m_drawn) *m_stream << "\r\x1b[K" << std::flush;
  m_drawn = false;
}

}  // namespace colibri
