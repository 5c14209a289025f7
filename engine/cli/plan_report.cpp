#include "cli/plan_report.h"

#include "base/ledger.h"
#include "base/units.h"
#include "checkpoint/expected_tensors.h"
#include "cli/setting_json.h"
#include "kernels/kernels.h"
#include "plan/turn_history.h"
#include "store/usage_history.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

namespace colibri {
namespace {

Result<std::string> kernelName(const EngineOptions& options, const std::optional<RecordedMachine>& recorded) {
  if (recorded) return options.isa == Isa::kAuto ? recorded->isa : std::string(isaName(options.isa));
  COLIBRI_ASSIGN_OR_RETURN(const Kernels* kernels, kernelsFor(options.isa));
  return std::string(kernels->name);
}

/// Two or three significant digits.
std::string rate(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(value >= 10 ? 0 : value >= 1 ? 1 : value >= 0.1 ? 2 : 3) << value;
  return text.str();
}

std::string range(double low, double high, const char* unit) {
  return rate(low) + " to " + rate(high) + " " + unit;
}

}  // namespace

Result<PlanReport> makePlan(const Console& console, const Settings& settings, const std::filesystem::path& folder,
                            const std::optional<RecordedMachine>& recorded, const std::vector<PlannedDrive>* measured) {
  PlanReport report;
  EngineOptions& options = report.options;
  options = settings.engineOptions(folder);
  options.dataFolder = dataFolder(console.environment);
  COLIBRI_ASSIGN_OR_RETURN(const std::string isa, kernelName(options, recorded));
  COLIBRI_ASSIGN_OR_RETURN(const PlannableModel model, openForPlanning(options));
  if (!settings.isGiven(Setting::kCtx)) {
    options.context = std::min(options.context, std::max(model.config.maxPositions, 1));
  }
  report.modelType = model.config.modelType;
  report.modelId = model.modelId;
  for (const TensorInfo& tensor : model.shards->tensors()) {
    const TensorRole role = tensorRole(tensor.name);
    if (role == TensorRole::kDraft) report.draftBytes += tensor.bytes;
    if (role == TensorRole::kVision) report.visionBytes += tensor.bytes;
    if (isEngramTable(tensor.name)) report.engramBytes += tensor.bytes;
  }

  PlanSurroundings around;
  if (recorded) {
    around = recorded->surroundings();
    around.isa = isa;
  } else {
    const TurnHistory history = TurnHistory::load(options.dataFolder, model.modelId);
    if (!history.notice().empty()) report.notices.push_back(history.notice());
    around = surroundingsHere(options, *model.shards, isa, history.turns());
    if (measured != nullptr) around.drives = *measured;
  }
  std::unique_ptr<UsageHistory> usage;
  std::uint64_t experts = 0;
  for (const int count : expertCounts(model.config, model.shards->tensors())) experts += static_cast<unsigned>(count);
  if (!options.dataFolder.empty() && experts <= kMostRecordedExperts) {
    COLIBRI_ASSIGN_OR_RETURN(usage, UsageHistory::load(options.dataFolder, model.modelId, experts));
    if (!usage->notice().empty()) report.notices.push_back(usage->notice());
    around.usage = usage.get();
  }
  COLIBRI_ASSIGN_OR_RETURN(report.planned, planOpened(options, model, around));
  return report;
}

OrderedJson planReportJson(const PlanReport& report, const Settings& settings) {
  OrderedJson json = planJson(report.planned.plan, report.options, settings);
  json["model"] = {{"path", report.options.model.string()},
                   {"model_type", report.modelType},
                   {"model_id", report.modelId},
                   {"supported", true},
                   {"unsupported_reason", ""}};
  json["not_loaded"] = {{"draft", report.draftBytes}, {"vision", report.visionBytes}, {"engram", report.engramBytes}};
  return json;
}

void printPlan(std::ostream& out, const PlanReport& report) {
  const EnginePlan& plan = report.planned.plan;
  const ModelCosts& costs = report.planned.predictor.costs();
  out << "Memory      " << binarySize(plan.usedBytes) << " of " << binarySize(plan.budgetBytes) << '\n';
  for (const MemoryPart& part : plan.parts) {
    if (part.bytes == 0) continue;
    out << "            " << std::left << std::setw(14) << memoryTagName(part.tag) << binarySize(part.bytes);
    if (part.tag == MemoryTag::kExpertCache) {
      out << "  (" << plan.expertSlots << " of " << costs.totalExperts() << " experts)";
    }
    if (part.tag == MemoryTag::kDense && plan.streamsDense) out << "  (large matrices are read for each token)";
    out << '\n';
  }
  const std::pair<const char*, std::uint64_t> onDisk[] = {
      {"drafter", report.draftBytes}, {"image tower", report.visionBytes}, {"n-gram tables", report.engramBytes}};
  std::string left;
  for (const auto& [what, bytes] : onDisk) {
    if (bytes > 0) left += (left.empty() ? "" : ", ") + std::string(what) + " " + binarySize(bytes);
  }
  if (!left.empty()) out << "Not loaded  " << left << '\n';
  for (const PlannedDrive& drive : plan.drives) {
    out << "Drive       " << drive.path.string() << ": " << drive.kind << ", " << decimalSize(drive.bytesPerSecond)
        << "/s (" << drive.source << ")" << (drive.isMirror ? ", copies" : "") << '\n';
  }
  out << "Computing   " << plan.threads << (plan.threads == 1 ? " thread" : " threads");
  if (!plan.isa.empty()) out << ", " << plan.isa;
  out << "; prompts " << plan.prefillSegment << " tokens at a time\n";
  const Prediction& prediction = plan.prediction;
  if (prediction.decodeTokensPerSecond > 0) {
    out << "Expected    " << range(prediction.decodeLow, prediction.decodeHigh, "tokens/s") << ", limited by "
        << prediction.boundBy << "; " << std::lround(prediction.hitRate * 100) << " % of the experts found in memory\n"
        << "            first token of a " << prediction.promptTokens << " token prompt after "
        << range(prediction.firstTokenLow, prediction.firstTokenHigh, "s") << "\n            ("
        << (prediction.source == "assumed" ? "assumed; your own turns will make this exact"
                                           : "from " + prediction.source)
        << ")\n";
  }
  for (const std::string& sentence : plan.advice) out << "Advice      " << sentence << '\n';
}

}  // namespace colibri
