#pragma once
// Collects a prompt as segments: control text is Colibri's own, literal text is somebody else's and never becomes a
// control token.

#include <colibri/tokenizer.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace colibri {

class SegmentWriter {
public:
  void control(std::string_view text) { add(true, text); }
  void literal(std::string_view text) { add(false, text); }
  void append(std::span<const TextSegment> segments) {
    for (const TextSegment& segment : segments) add(segment.control, segment.text);
  }
  /// `pattern` with `content` as literal text in the place of `slot`.
  void controlWithSlot(std::string_view pattern, std::string_view slot, std::string_view content) {
    const std::size_t at = pattern.find(slot);
    control(pattern.substr(0, at));
    literal(content);
    control(pattern.substr(at + slot.size()));
  }
  [[nodiscard]] bool empty() const { return m_segments.empty(); }
  std::vector<TextSegment> take() { return std::move(m_segments); }

private:
  void add(bool isControl, std::string_view text) {
    if (text.empty()) return;
    if (!m_segments.empty() && m_segments.back().control == isControl) {
      m_segments.back().text += text;
    } else {
      m_segments.push_back({isControl, std::string(text)});
    }
  }

  std::vector<TextSegment> m_segments;
};

}  // namespace colibri
