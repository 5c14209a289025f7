#include "text/completion_markers.h"

#include "text/prompt_constants.h"

#include <array>
#include <utility>

namespace colibri {
namespace {

using State = CompletionMarker::State;
using Kind = CompletionMarker::Kind;
using Tag = CompletionMarker::Tag;

constexpr std::array<std::pair<std::string_view, Kind>, 6> kPlainMarkers{{
    {prompt::kThinkOpen, Kind::kThinkOpen},
    {prompt::kThinkClose, Kind::kThinkClose},
    {prompt::kEnd, Kind::kEndOfTurn},
    // A header in the middle of an answer: the model goes on with somebody else's turn.
    {prompt::kUser, Kind::kEndOfTurn},
    {prompt::kAssistant, Kind::kEndOfTurn},
    {prompt::kSystem, Kind::kEndOfTurn},
}};

constexpr std::array<std::pair<std::string_view, Tag>, 4> kTagNames{
    {{"tool_calls", Tag::kBlock}, {"calls", Tag::kBlock}, {"invoke", Tag::kCall}, {"parameter", Tag::kParameter}}};

constexpr std::string_view kWideBar = "｜";
constexpr std::string_view kAsciiBar = "|";

State compare(std::string_view text, std::string_view expected) {
  if (text.starts_with(expected)) return State::kFull;
  return expected.starts_with(text) ? State::kPartial : State::kNone;
}

// Reads a tag step by step; each step reports kFull and moves on, or says why it cannot.
class TagReader {
public:
  explicit TagReader(std::string_view text) : m_rest(text.substr(1)), m_size(text.size()) {
    m_marker.kind = Kind::kTag;
  }

  CompletionMarker read() {
    if (m_rest.empty()) return ended(State::kPartial);
    m_marker.closing = m_rest.front() == '/';
    if (m_marker.closing) m_rest.remove_prefix(1);
    const std::size_t beforeMark = m_rest.size();
    bool firstWide = false;
    bool secondWide = false;
    for (const State step : {bar(firstWide), literal("DSML"), bar(secondWide)}) {
      if (step != State::kFull) return ended(step);
    }
    m_marker.genuine = firstWide && secondWide;
    m_marker.markLength = beforeMark - m_rest.size();
    return name();
  }

private:
  CompletionMarker ended(State state) {
    m_marker.state = state;
    m_marker.length = m_size - m_rest.size();
    return m_marker;
  }

  State literal(std::string_view expected) {
    if (m_failed) return State::kNone;
    const State state = compare(m_rest, expected);
    if (state == State::kFull) {
      m_rest.remove_prefix(expected.size());
    } else {
      m_failed = true;
    }
    return state;
  }

  State bar(bool& wide) {
    wide = !m_rest.empty() && m_rest.front() != kAsciiBar.front();
    return literal(wide ? kWideBar : kAsciiBar);
  }

  CompletionMarker name() {
    const std::string_view behindMark = m_rest;
    if (!m_rest.empty() && m_rest.front() == ' ') m_rest.remove_prefix(1);
    bool open = false;
    for (const auto& [spelling, tag] : kTagNames) {
      const State state = compare(m_rest, spelling);
      if (state == State::kFull) {
        m_rest.remove_prefix(spelling.size());
        m_marker.tag = tag;
        return ended(State::kFull);
      }
      open = open || state == State::kPartial;
    }
    if (open) return ended(State::kPartial);
    m_rest = behindMark;
    return ended(State::kFull);
  }

  CompletionMarker m_marker;
  std::string_view m_rest;
  std::size_t m_size;
  bool m_failed = false;
};

}  // namespace

CompletionMarker matchMarker(std::string_view text) {
  bool open = false;
  for (const auto& [spelling, kind] : kPlainMarkers) {
    const State state = compare(text, spelling);
    if (state == State::kFull) {
      CompletionMarker marker;
      marker.state = State::kFull;
      marker.kind = kind;
      marker.length = spelling.size();
      return marker;
    }
    open = open || state == State::kPartial;
  }
  CompletionMarker marker = TagReader(text).read();
  if (marker.state == State::kNone && open) marker.state = State::kPartial;
  return marker;
}

}  // namespace colibri
