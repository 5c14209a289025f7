// coli doctor
#include "base/units.h"
#include "checkpoint/shard_set.h"
#include "cli/commands.h"
#include "cli/drive_rate.h"
#include "cli/engine_loader.h"
#include "cli/run_cli.h"
#include "cli/setting_json.h"
#include "kernels/kernels.h"
#include "plan/model_plan.h"
#include "plan/probe.h"
#include <colibri/checkpoint.h>
#include <colibri/engine.h>

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

OrderedJson machineJson(const MachineProbe& machine) {
  const MemoryProbe& memory = machine.memory;
  return {{"cpu",
           {{"model", machine.cpu.model},
            {"logical_cores", machine.cpu.logicalCores},
            {"physical_cores", machine.cpu.physicalCores},
            {"features", machine.cpu.features}}},
          {"memory",
           {{"total_bytes", memory.totalBytes},
            {"available_bytes", memory.availableBytes},
            {"limit_bytes", memory.limitBytes ? OrderedJson(*memory.limitBytes) : OrderedJson(nullptr)},
            {"usable_bytes", memory.usableBytes()}}},
          {"page_bytes", machine.pageBytes},
          {"huge_pages", machine.hugePages}};
}

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

/// The largest shard of the model in each folder is what the drive is measured with.
OrderedJson drivesJson(const std::filesystem::path& folder, const std::vector<std::string>& more,
                       const Cancellation& cancellation) {
  const std::vector<std::filesystem::path> folders(more.begin(), more.end());
  OrderedJson drives = OrderedJson::array();
  const auto shards = ShardSet::open(folder, folders);
  std::vector<std::filesystem::path> all{folder};
  all.insert(all.end(), folders.begin(), folders.end());
  for (const std::filesystem::path& place : all) {
    const FileSystemProbe probe = probeFileSystem(place);
    OrderedJson warnings = OrderedJson::array();
    if (!probe.warning.empty()) warnings.push_back(probe.warning);
    OrderedJson drive{{"path", place.string()}, {"device", probe.device},        {"file_system", probe.type},
                      {"kind", probe.kind},     {"free_bytes", probe.freeBytes}, {"bytes_per_s", nullptr},
                      {"direct", false}};
    const Shard* largest = nullptr;
    if (shards) {
      for (const Shard& shard : (*shards)->shards()) {
        std::error_code error;
        const bool here = std::filesystem::exists(place / shard.name, error);
        if (here && (largest == nullptr || shard.fileBytes > largest->fileBytes)) largest = &shard;
      }
    }
    if (largest != nullptr) {
      const Result<DriveRate> rate = measureDriveRate(largest->path, cancellation);
      if (rate) {
        drive["bytes_per_s"] = rate->bytesPerSecond;
        drive["direct"] = rate->direct;
        drive["measured_bytes"] = rate->bytesRead;
        if (!rate->reason.empty()) warnings.push_back(rate->reason);
        if (!rate->warning.empty()) warnings.push_back(rate->warning);
      } else {
        warnings.push_back(rate.status().message());
      }
    }
    drive["warnings"] = std::move(warnings);
    drives.push_back(std::move(drive));
  }
  return drives;
}

OrderedJson planOrError(const Settings& settings, const std::filesystem::path& folder) {
  EngineOptions options = settings.engineOptions(folder);
  if (!settings.isGiven(Setting::kCtx)) {
    const Result<ModelConfig> config = ModelConfig::load(folder);
    if (config) options.context = std::min(options.context, std::max(config->maxPositions, 1));
  }
  Result<EnginePlan> plan = planFolder(options);
  if (!plan) return errorJson(plan.status());
  if (const Result<const Kernels*> kernels = kernelsFor(options.isa)) plan->isa = std::string((*kernels)->name);
  return planJson(*plan, options, settings);
}

void printText(std::ostream& out, const OrderedJson& report) {
  const OrderedJson& cpu = report["probe"]["cpu"];
  const OrderedJson& memory = report["probe"]["memory"];
  const auto bytes = [](const OrderedJson& value) { return value.get<std::uint64_t>(); };
  out << "Processor  " << cpu["model"].get<std::string>() << ", " << cpu["physical_cores"] << " cores, kernels "
      << (report["kernels"]["chosen"].is_string() ? report["kernels"]["chosen"].get<std::string>() : "none") << '\n'
      << "Memory     " << binarySize(bytes(memory["usable_bytes"])) << " usable of "
      << binarySize(bytes(memory["total_bytes"])) << '\n';
  for (const OrderedJson& drive : report["drives"]) {
    out << "Drive      " << drive["path"].get<std::string>() << ": " << drive["kind"].get<std::string>() << ", "
        << drive["file_system"].get<std::string>();
    if (drive["bytes_per_s"].is_number()) {
      out << ", " << decimalSize(drive["bytes_per_s"].get<double>()) << "/s"
          << (drive["direct"].get<bool>() ? ", direct reads" : ", buffered reads");
    }
    out << '\n';
    for (const OrderedJson& warning : drive["warnings"]) out << "           " << warning.get<std::string>() << '\n';
  }
  out << "Graphics   " << report["gpu"]["reason"].get<std::string>() << '\n';
  const OrderedJson& plan = report["plan"];
  if (plan.contains("error")) {
    out << "Plan       " << plan["error"]["message"].get<std::string>() << '\n';
    return;
  }
  out << "Plan       " << binarySize(bytes(plan["ram"]["used_bytes"])) << " of "
      << binarySize(bytes(plan["ram"]["budget_bytes"])) << ", " << plan["ram"]["expert_slots"] << " expert slots\n";
  for (const auto& [name, size] : plan["ram"]["parts"].items()) {
    if (bytes(size) > 0) out << "           " << name << ": " << binarySize(bytes(size)) << '\n';
  }
}

Status doctor(Console& console, const Options& options, bool json) {
  COLIBRI_ASSIGN_OR_RETURN(const Settings settings, resolveSettings(console, options.given));
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(folder));
  const Interrupts::Work work(console.interrupts);
  const MachineProbe machine = probeMachine();
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
                     {"probe", machineJson(machine)},
                     {"kernels", kernelsJson()},
                     {"gpu", {{"devices", OrderedJson::array()}, {"plugin", nullptr}, {"reason", kNoGpu}}},
                     {"model", {{"path", folder.string()}, {"model_type", config.modelType}}},
                     {"drives", drivesJson(folder, settings.list(Setting::kShardDir), work.cancellation())},
                     {"plan", planOrError(settings, folder)}};
  report["probe"]["disks"] = report["drives"];
  if (work.cancellation().isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped.");
  if (json) {
    printJson(console, report);
  } else {
    printText(console.out, report);
  }
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
