#include "answer_json.h"

#include <QJsonArray>

#include <algorithm>

namespace colibri::app {
namespace {

double number(std::uint64_t value) {
  return static_cast<double>(value);
}

QJsonObject timings(const Timings& value) {
  const TimeSplit& split = value.split;
  return {{"load_s", value.loadSeconds},
          {"prefill_s", value.prefillSeconds},
          {"decode_s", value.decodeSeconds},
          {"first_token_s", value.firstTokenSeconds},
          {"decode_tokens_per_s", value.decodeTokensPerSecond},
          {"split", QJsonObject{{"disk_wait_s", split.diskWaitSeconds},
                                {"expert_s", split.expertSeconds},
                                {"dense_s", split.denseSeconds},
                                {"attention_s", split.attentionSeconds},
                                {"other_s", split.otherSeconds}}}};
}

QJsonObject experts(const ExpertUse& value) {
  QJsonArray disks;
  for (const DriveCounters& disk : value.disks) {
    QJsonObject entry{
        {"path", QString::fromStdString(disk.path)}, {"bytes_read", number(disk.bytesRead)}, {"direct", disk.direct}};
    if (!disk.reason.empty()) entry.insert("reason", QString::fromStdString(disk.reason));
    disks.append(entry);
  }
  return {{"requests", number(value.requests)},
          {"hits", number(value.hits)},
          {"misses", number(value.misses)},
          {"compulsory_misses", number(value.compulsoryMisses)},
          {"bytes_missed", number(value.bytesMissed)},
          {"bytes_read", number(value.bytesRead)},
          {"read_bytes_per_s", value.readBytesPerSecond},
          {"disks", disks}};
}

}  // namespace

QJsonObject answerToJson(const Answer& answer) {
  QJsonArray tokens;
  for (const TokenId token : answer.tokens) tokens.append(token);
  return {{"text", QString::fromStdString(answer.text)},
          {"reasoning", QString::fromStdString(answer.reasoning)},
          {"tokens", tokens},
          {"finish_reason", QString::fromLatin1(finishReasonName(answer.finishReason))},
          {"prompt_tokens", static_cast<double>(answer.promptTokens)},
          {"completion_tokens", static_cast<double>(answer.completionTokens)},
          {"reused_tokens", static_cast<double>(answer.reusedTokens)},
          {"timings", timings(answer.timings)},
          {"experts", experts(answer.experts)},
          // A V4 model has no engram rows, and without drafts each token after the first is one pass.
          {"engram", QJsonObject{{"rows", 0}, {"row_hits", 0}, {"bytes_read", 0}}},
          {"drafts",
           QJsonObject{{"rounds", 0},
                       {"proposed", 0},
                       {"accepted", 0},
                       {"forwards", static_cast<double>(std::max<std::int64_t>(0, answer.completionTokens - 1))}}},
          {"memory", QJsonObject{{"budget_bytes", static_cast<double>(answer.memoryBudgetBytes)},
                                 {"peak_bytes", static_cast<double>(answer.memoryPeakBytes)}}}};
}

}  // namespace colibri::app
