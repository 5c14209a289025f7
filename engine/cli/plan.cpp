// coli plan
#include "cli/commands.h"
#include "cli/plan_report.h"

#include <iostream>

namespace colibri {
namespace {

constexpr std::size_t kMostProbeBytes = std::size_t{16} << 20;

struct Options {
  std::string model;
  std::string probe;
  GivenSettings given;
};

Status plan(Console& console, const Options& options, bool json) {
  COLIBRI_ASSIGN_OR_RETURN(const Settings settings, resolveSettings(console, options.given));
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  std::optional<RecordedMachine> recorded;
  if (!options.probe.empty()) {
    COLIBRI_ASSIGN_OR_RETURN(const Json probe, readJsonInput(console, options.probe, kMostProbeBytes));
    COLIBRI_ASSIGN_OR_RETURN(recorded, probeFromJson(probe, options.probe == "-" ? "Standard input" : options.probe));
  }
  COLIBRI_ASSIGN_OR_RETURN(const PlanReport report, makePlan(console, settings, folder, recorded));
  for (const std::string& notice : report.notices) console.err << notice << '\n';
  if (json) {
    printJson(console, planReportJson(report, settings));
  } else {
    printPlan(console.out, report);
  }
  return Status::ok();
}

}  // namespace

void addPlan(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "plan", "What would go where in memory, and how fast that should be")
      .model(options->model)
      .text("--probe", options->probe, "Plan for the machine in this file, made with 'coli doctor --json'")
      .settings(SettingScope::kEngine, options->given)
      .json()
      .runs([options](Console& console, bool json) { return plan(console, *options, json); });
}

}  // namespace colibri
