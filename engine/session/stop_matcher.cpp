#include "session/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace colibri {

StopMatcher::StopMatcher(std::vector<std::string> stops) : m_stops(std::move(stops)) {
  std::erase_if(m_stops, [](const std::string& stop) { return stop.empty(); });
}

std::string StopMatcher::push(std::string_view text) {
  if (m_matched) return {};
  m_held += text;
  std::size_t first = std::string::npos;
  for (const std::string& stop : m_stops) first = std::min(first, m_held.find(stop));
  if (first != std::string::npos) {
    m_matched = true;
    std::string released = m_held.substr(0, first);
    m_held.clear();
    return released;
  }
  std::size_t keep = 0;
  for (const std::string& stop : m_stops) {
    for (std::size_t n = std::min(stop.size() - 1, m_held.size()); n > keep; --n) {
      if (m_held.compare(m_held.size() - n, n, stop, 0, n) == 0) {
        keep = n;
        break;
      }
    }
  }
  std::string released = m_held.substr(0, m_held.size() - keep);
  m_held.erase(0, m_held.size() - keep);
  return released;
}

std::string StopMatcher::finish() {
  return m_matched ? std::string() : std::exchange(m_held, {});
}

}  // namespace colibri
