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

OrderedJson doneEventJson(const Answer& answer) {
  const Timings& t = answer.timings;
  const ExpertUse& experts = answer.experts;
  OrderedJson disks = OrderedJson::array();
  for (const DriveCounters& disk : experts.disks) {
    OrderedJson entry{{"path", disk.path}, {"bytes_read", disk.bytesRead}, {"direct", disk.direct}};
    if (!disk.reason.empty()) entry["reason"] = disk.reason;
    disks.push_back(std::move(entry));
  }
  OrderedJson json{{"event", "done"},
                   {"text", answer.text},
                   {"reasoning", answer.reasoning},
                   {"tokens", answer.tokens},
                   {"finish_reason", finishReasonName(answer.finishReason)},
                   {"prompt_tokens", answer.promptTokens},
                   {"completion_tokens", answer.completionTokens},
                   {"reused_tokens", answer.reusedTokens},
                   {"timings",
                    {{"load_s", t.loadSeconds},
                     {"prefill_s", t.prefillSeconds},
                     {"decode_s", t.decodeSeconds},
                     {"first_token_s", t.firstTokenSeconds},
                     {"decode_tokens_per_s", t.decodeTokensPerSecond},
                     {"split",
                      {{"disk_wait_s", t.split.diskWaitSeconds},
                       {"expert_s", t.split.expertSeconds},
                       {"dense_s", t.split.denseSeconds},
                       {"attention_s", t.split.attentionSeconds},
                       {"other_s", t.split.otherSeconds}}}}},
                   {"experts",
                    {{"requests", experts.requests},
                     {"hits", experts.hits},
                     {"misses", experts.misses},
                     {"compulsory_misses", experts.compulsoryMisses},
                     {"bytes_missed", experts.bytesMissed},
                     {"bytes_read", experts.bytesRead},
                     {"read_bytes_per_s", experts.readBytesPerSecond},
                     {"disks", std::move(disks)}}},
                   {"engram", {{"rows", 0}, {"row_hits", 0}, {"bytes_read", 0}}},
                   // Without drafts each token after the first takes one forward pass.
                   {"drafts",
                    {{"rounds", 0},
                     {"proposed", 0},
                     {"accepted", 0},
                     {"forwards", std::max<std::int64_t>(0, answer.completionTokens - 1)}}},
                   {"memory", {{"budget_bytes", answer.memoryBudgetBytes}, {"peak_bytes", answer.memoryPeakBytes}}}};
  if (answer.finishReason == FinishReason::kError) {
    json["error"] = {{"code", answer.error.id()}, {"message", answer.error.message()}};
  }
  return json;
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
