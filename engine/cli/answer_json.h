#pragma once
// The events of `coli run --json`.

#include "base/json.h"
#include "session/answer_json.h"
#include <colibri/engine.h>
#include <colibri/event.h>

namespace colibri {

[[nodiscard]] OrderedJson prefillEventJson(const PrefillEvent& event);
[[nodiscard]] OrderedJson tokenEventJson(const TokenEvent& event);
/// One line of statistics for people.
[[nodiscard]] std::string answerInWords(const Answer& answer);

/// Lets the visible part of streamed text through: what follows the reasoning.
class VisibleText {
public:
  explicit VisibleText(bool startsInReasoning) : m_inReasoning(startsInReasoning) {}
  std::string push(const std::string& text);
  [[nodiscard]] bool inReasoning() const { return m_inReasoning; }

private:
  bool m_inReasoning;
  std::string m_pending;
};

}  // namespace colibri
