// coli doctor
#include "base/units.h"
#include "cli/commands.h"
#include "cli/plan_report.h"
#include "cli/run_cli.h"
#include "kernels/kernels.h"
#include "plan/drive_memory.h"
#include "plan/memory_rate.h"
#include "plan/planned_drives.h"
#include "plan/probe.h"

#include <algorithm>
#include <iostream>

namespace colibri {
namespace {

constexpr const char* kNoGpu =
    "This version computes on the processor alone; graphics cards are not looked for and would not be used.";

struct Options {
  std::string model;
  GivenSettings given;
};

OrderedJson kernelsJson() {
  OrderedJson list = OrderedJson::array();
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    const Result<const Kernels*> kernels = kernelsFor(isa);
    OrderedJson entry{{"isa", isaName(isa)}, {"available", kernels.isOk()}};
    if (!kernels.isOk()) entry["reason"] = kernels.status().message();
    list.push_back(std::move(entry));
  }
  const Result<const Kernels*> chosen = kernelsFor(Isa::kAuto);
  return {{"chosen", chosen.isOk() ? OrderedJson(std::string((*chosen)->name)) : OrderedJson(nullptr)}, {"sets", list}};
}

void addWarning(PlannedDrive& drive, const std::string& sentence) {
  if (sentence.empty()) return;
  drive.warning += (drive.warning.empty() ? "" : " ") + sentence;
}

/// The drives of the model's folders, measured now.
Result<std::vector<PlannedDrive>> measuredDrives(const EngineOptions& options, const ShardSet& shards,
                                                 const Cancellation& cancellation) {
  std::vector<PlannedDrive> drives = plannedDrives(options, expertBytesByFolder(options, shards));
  DriveProbeOptions how;
  how.direct = options.direct;
  for (PlannedDrive& drive : drives) {
    const std::filesystem::path file = largestShard(shards, drive.path);
    if (file.empty()) {
      addWarning(drive, "No shard of the model lies here, so this drive was not measured.");
      continue;
    }
    std::string notice;
    const Result<DriveFacts> facts = measureAndRemember(options.dataFolder, file, how, cancellation, &notice);
    if (cancellation.isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped.");
    if (!facts) {
      addWarning(drive, facts.status().message());
      continue;
    }
    drive.direct = facts->direct;
    // Reads of holes or of a few megabytes are no rate of the drive: a plan must not be made from them.
    if (facts->bytesPerSecond > 0 && facts->warning.empty()) {
      drive.bytesPerSecond = facts->bytesPerSecond;
      drive.iops4k = facts->iops4k;
      drive.queueDepth = facts->queueDepth;
      drive.source = "measured " + facts->measured;
    }
    addWarning(drive, facts->reason);
    addWarning(drive, facts->warning);
    addWarning(drive, notice);
  }
  return drives;
}

void printMachine(std::ostream& out, const RecordedMachine& recorded, const OrderedJson& kernels) {
  const MachineProbe& machine = recorded.machine;
  out << "Processor   " << machine.cpu.model << ", " << machine.cpu.physicalCores << " cores, kernels "
      << (kernels["chosen"].is_string() ? kernels["chosen"].get<std::string>() : "none");
  if (machine.numaNodes > 1) out << ", " << machine.numaNodes << " memory nodes";
  out << "\nMemory      " << binarySize(machine.memory.usableBytes()) << " usable of "
      << binarySize(machine.memory.totalBytes) << ", read at " << decimalSize(recorded.memoryBytesPerSecond) << "/s\n";
  for (const PlannedDrive& drive : recorded.drives) {
    out << "Drive       " << drive.path.string() << ": " << drive.kind << ", " << decimalSize(drive.bytesPerSecond)
        << "/s (" << drive.source << ")" << (drive.direct ? ", direct reads" : ", buffered reads");
    if (drive.queueDepth > 0) out << ", best with " << drive.queueDepth << " reads in flight";
    out << '\n';
    if (!drive.warning.empty()) out << "            " << drive.warning << '\n';
  }
  out << "Graphics    " << kNoGpu << '\n';
}

Status doctor(Console& console, const Options& options, bool json) {
  COLIBRI_ASSIGN_OR_RETURN(const Settings settings, resolveSettings(console, options.given));
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  const Interrupts::Work work(console.interrupts);
  EngineOptions engine = settings.engineOptions(folder);
  engine.dataFolder = dataFolder(console.environment);
  COLIBRI_ASSIGN_OR_RETURN(const PlannableModel model, openForPlanning(engine));

  RecordedMachine recorded;
  recorded.machine = probeMachine();
  const OrderedJson kernels = kernelsJson();
  if (kernels["chosen"].is_string()) recorded.isa = kernels["chosen"].get<std::string>();
  constexpr std::uint64_t kMostBuffer = std::uint64_t{192} << 20;
  recorded.memoryBytesPerSecond =
      measureMemoryRate(recorded.machine.cpu.physicalCores, std::min(kMostBuffer, availableMemoryBytes() / 16));
  COLIBRI_ASSIGN_OR_RETURN(recorded.drives, measuredDrives(engine, *model.shards, work.cancellation()));
  const Result<PlanReport> plan = makePlan(console, settings, folder, std::nullopt, &recorded.drives);
  if (work.cancellation().isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped.");
  if (!json) {
    printMachine(console.out, recorded, kernels);
    console.out << "\nPlan for " << folder.string() << '\n';
    if (plan) {
      printPlan(console.out, *plan);
    } else {
      console.out << plan.status().message() << '\n';
    }
    return Status::ok();
  }
  OrderedJson report{{"version", versionText()},
                     {"build",
                      {{"type", COLIBRI_BUILD_TYPE},
                       {"compiler", __VERSION__},
#ifdef __OPTIMIZE__
                       {"optimised", true}
#else
                       {"optimised", false}
#endif
                      }},
                     {"probe", probeJson(recorded)},
                     {"kernels", kernels},
                     {"gpu", {{"devices", OrderedJson::array()}, {"plugin", nullptr}, {"reason", kNoGpu}}},
                     {"model", {{"path", folder.string()}, {"model_type", model.config.modelType}}},
                     {"plan", plan ? planReportJson(*plan, settings) : errorJson(plan.status())}};
  report["drives"] = report["probe"]["disks"];
  printJson(console, report);
  return Status::ok();
}

}  // namespace

void addDoctor(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "doctor", "This machine, the model's drive, and how the model would fit")
      .model(options->model)
      .settings(SettingScope::kEngine, options->given)
      .json()
      .runs([options](Console& console, bool json) { return doctor(console, *options, json); });
}

}  // namespace colibri
