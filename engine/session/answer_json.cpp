#include "session/answer_json.h"

#include <algorithm>

namespace colibri {
namespace {

OrderedJson driveJson(const DriveCounters& drive) {
  OrderedJson entry{{"path", drive.path},
                    {"bytes_read", drive.bytesRead},
                    {"direct", drive.direct},
                    {"requests", drive.requests},
                    {"busy_s", drive.busySeconds},
                    {"latency_mean_s", drive.latencyMeanSeconds},
                    {"latency_p99_s", drive.latencyP99Seconds},
                    {"mean_outstanding_bytes", drive.meanOutstandingBytes}};
  if (!drive.reason.empty()) entry["reason"] = drive.reason;
  if (!drive.fault.empty()) entry["fault"] = drive.fault;
  return entry;
}

OrderedJson predictionJson(const Prediction& prediction) {
  const auto numberOrNull = [](double value) { return value > 0 ? OrderedJson(value) : OrderedJson(nullptr); };
  return {{"decode_tokens_per_s", numberOrNull(prediction.decodeTokensPerSecond)},
          {"first_token_s", numberOrNull(prediction.firstTokenSeconds)},
          {"decode_tokens_per_s_range", {prediction.decodeLow, prediction.decodeHigh}},
          {"first_token_s_range", {prediction.firstTokenLow, prediction.firstTokenHigh}},
          {"hit_rate", prediction.hitRate},
          {"bound_by", prediction.boundBy},
          {"source", prediction.source}};
}

}  // namespace

OrderedJson doneEventJson(const Answer& answer) {
  const Timings& t = answer.timings;
  const ExpertUse& experts = answer.experts;
  OrderedJson disks = OrderedJson::array();
  for (const DriveCounters& disk : experts.disks) {
    disks.push_back(driveJson(disk));
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
                     {"busy_s", experts.busySeconds},
                     {"prefetched", experts.prefetched},
                     {"prefetched_used", experts.prefetchedUsed},
                     {"prefetched_unused", experts.prefetchedUnused},
                     {"disks", std::move(disks)}}},
                   {"engram",
                    {{"rows", answer.engram.rows},
                     {"row_hits", answer.engram.rowHits},
                     {"bytes_read", answer.engram.bytesRead},
                     {"wait_s", answer.engram.waitSeconds}}},
                   // Without drafts each token after the first takes one forward pass.
                   {"drafts",
                    {{"rounds", 0},
                     {"proposed", 0},
                     {"accepted", 0},
                     {"forwards", std::max<std::int64_t>(0, answer.completionTokens - 1)}}},
                   {"memory",
                    {{"budget_bytes", answer.memoryBudgetBytes},
                     {"peak_bytes", answer.memoryPeakBytes},
                     {"anonymous_peak_bytes", answer.anonymousPeakBytes}}},
                   {"prediction", predictionJson(answer.prediction)},
                   {"notices", answer.notices}};
  if (answer.finishReason == FinishReason::kError) {
    json["error"] = {{"code", answer.error.id()}, {"message", answer.error.message()}};
  }
  return json;
}

std::string answerJson(const Answer& answer) {
  // Text that a model made may end inside a character.
  return doneEventJson(answer).dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace colibri
