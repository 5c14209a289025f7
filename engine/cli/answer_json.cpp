#include "cli/answer_json.h"

#include "base/units.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <string_view>

namespace colibri {

OrderedJson prefillEventJson(const PrefillEvent& event) {
  return {{"event", "prefill"}, {"done", event.done}, {"total", event.total}, {"eta_s", event.etaSeconds}};
}

OrderedJson tokenEventJson(const TokenEvent& event) {
  // Text that was held back (an incomplete character, the beginning of a stop string) comes without a token of its own.
  if (event.id < 0) return {{"event", "text"}, {"text", event.text}};
  return {{"event", "token"}, {"id", event.id}, {"text", event.text}, {"logprob", event.logprob}};
}

std::string answerInWords(const Answer& answer) {
  std::ostringstream text;
  const Timings& t = answer.timings;
  text << answer.promptTokens << " prompt tokens";
  if (answer.reusedTokens > 0) text << " (" << answer.reusedTokens << " reused)";
  text << std::fixed << std::setprecision(2) << " in " << t.prefillSeconds << " s, " << answer.completionTokens
       << " tokens in " << t.decodeSeconds << " s";
  if (t.decodeTokensPerSecond > 0) text << std::setprecision(1) << " (" << t.decodeTokensPerSecond << " tokens/s)";
  if (answer.experts.requests > 0) {
    const double share =
        100.0 * static_cast<double>(answer.experts.hits) / static_cast<double>(answer.experts.requests);
    text << std::setprecision(1) << ", expert hits " << share << " %, read "
         << decimalSize(static_cast<double>(answer.experts.bytesRead));
  }
  return text.str();
}

std::string VisibleText::push(const std::string& text) {
  constexpr std::string_view kClose = "</think>";
  if (!m_inReasoning) return text;
  m_pending += text;
  const std::size_t end = m_pending.find(kClose);
  if (end == std::string::npos) {
    // Only what could be the beginning of the tag is worth keeping.
    if (m_pending.size() >= kClose.size()) m_pending.erase(0, m_pending.size() - kClose.size() + 1);
    return {};
  }
  m_inReasoning = false;
  return m_pending.substr(end + kClose.size());
}

}  // namespace colibri
