#pragma once
// A plan made for a command, on this machine or a recorded one.

#include "cli/console.h"
#include "plan/model_plan.h"
#include "plan/probe_json.h"
#include <colibri/settings.h>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace colibri {

struct PlanReport {
  EngineOptions options;
  ModelPlan planned;
  std::string modelType;
  std::string modelId;
  std::uint64_t draftBytes = 0;      ///< stays on disk: drafts are not made
  std::uint64_t visionBytes = 0;     ///< stays on disk until there is an image
  std::uint64_t engramBytes = 0;     ///< tables that are read row by row
  std::vector<std::string> notices;  ///< what could not be used, one sentence each
};

/// Plans `folder` from its headers. `recorded`: instead of this machine; then nothing of this machine's past counts but
/// how the experts were used. `measured`: drives of this machine that were measured just now (may be null). Errors as
/// planModel(); kUnavailable for an --isa that this processor lacks.
Result<PlanReport> makePlan(const Console& console, const Settings& settings, const std::filesystem::path& folder,
                            const std::optional<RecordedMachine>& recorded,
                            const std::vector<PlannedDrive>* measured = nullptr);

/// planJson() and what the model is.
[[nodiscard]] OrderedJson planReportJson(const PlanReport& report, const Settings& settings);
/// For people.
void printPlan(std::ostream& out, const PlanReport& report);

}  // namespace colibri
