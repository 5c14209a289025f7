#pragma once
// A progress line on a terminal; silent elsewhere.

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace colibri {

/// Redraws at most ten times a second. The line is wiped when the object ends.
class ProgressLine {
public:
  /// `visible`: whether the stream is a terminal.
  ProgressLine(std::ostream& stream, bool visible) : m_stream(&stream), m_visible(visible) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// `what` done of total (bytes or tokens; a total of 0 shows no share).
  void show(const std::string& what, std::uint64_t done, std::uint64_t total);
  void clear();

private:
  std::ostream* m_stream;
  bool m_visible;
  bool m_drawn = false;
  std::chrono::steady_clock::time_point m_last{};
};

}  // namespace colibri
