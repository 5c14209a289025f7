#include "cli/setting_json.h"

#include "base/ledger.h"
#include "plan/planned_drives.h"
#include "plan/probe_json.h"

namespace colibri {

std::string_view settingTypeName(SettingType type) {
  switch (type) {
    case SettingType::kSize:
      return "size";
    case SettingType::kInteger:
      return "integer";
    case SettingType::kNumber:
      return "number";
    case SettingType::kChoice:
      return "choice";
    case SettingType::kSwitch:
      return "switch";
    case SettingType::kFlag:
      return "flag";
    case SettingType::kText:
      return "text";
    case SettingType::kList:
      return "list";
  }
  return "text";
}

OrderedJson settingValueJson(const SettingValue& value) {
  return std::visit(
      [](const auto& held) -> OrderedJson {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return nullptr;
        } else {
          return held;
        }
      },
      value);
}

OrderedJson resolvedSettingsJson(const Settings& settings, std::span<const SettingScope> scopes) {
  OrderedJson json = OrderedJson::object();
  for (const SettingInfo& info : settingsTable()) {
    for (const SettingScope scope : scopes) {
      if (info.scope != scope) continue;
      json[std::string(info.name)] = {{"value", settingValueJson(settings.value(info.id))},
                                      {"source", settingSourceName(settings.source(info.id))}};
    }
  }
  return json;
}

namespace {

OrderedJson rangeJson(double low, double high) {
  return high > 0 ? OrderedJson::array({low, high}) : OrderedJson(nullptr);
}

OrderedJson predictionJson(const Prediction& prediction) {
  const bool isSaid = prediction.decodeTokensPerSecond > 0;
  return {{"decode_tokens_per_s", rangeJson(prediction.decodeLow, prediction.decodeHigh)},
          {"first_token_s", rangeJson(prediction.firstTokenLow, prediction.firstTokenHigh)},
          {"hit_rate", prediction.hitRate},
          {"bound_by", isSaid ? OrderedJson(prediction.boundBy) : OrderedJson(nullptr)},
          {"prompt_tokens", prediction.promptTokens},
          {"source", prediction.source}};
}

}  // namespace

OrderedJson planJson(const EnginePlan& plan, const EngineOptions& options, const Settings& settings) {
  OrderedJson parts = OrderedJson::object();
  for (const MemoryPart& part : plan.parts) parts[std::string(memoryTagName(part.tag))] = part.bytes;
  OrderedJson disks = OrderedJson::array();
  for (const PlannedDrive& drive : plan.drives.empty() ? plannedDrives(options) : plan.drives) {
    disks.push_back(driveJson(drive));
  }
  OrderedJson prefill{{"segment", plan.prefillSegment}, {"chunk", plan.prefillChunk}};
  if (plan.prefillSegment > 0) {
    prefill["sweeps_per_1k_tokens"] = (999 + plan.prefillSegment) / plan.prefillSegment;
  }
  Settings resolved = settings;
  resolved.adoptPlan(plan);
  constexpr SettingScope kScopes[] = {SettingScope::kEngine};
  return {{"ram",
           {{"budget_bytes", plan.budgetBytes},
            {"used_bytes", plan.usedBytes},
            {"parts", parts},
            {"expert_slots", plan.expertSlots},
            {"streams_dense", plan.streamsDense}}},
          {"vram", OrderedJson::array()},
          {"disks", disks},
          {"prefill", prefill},
          {"prediction", predictionJson(plan.prediction)},
          {"advice", plan.advice},
          {"settings", resolvedSettingsJson(resolved, kScopes)}};
}

}  // namespace colibri
