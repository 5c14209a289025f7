#pragma once
// A machine as JSON: `coli doctor --json`'s `probe` object, from which `coli plan --probe` plans elsewhere.

#include "base/json_fwd.h"
#include "plan/model_plan.h"
#include "plan/probe.h"
#include <colibri/plan.h>
#include <colibri/status.h>

#include <string>
#include <vector>

namespace colibri {

struct RecordedMachine {
  MachineProbe machine;
  std::string isa;                   ///< kernel set that would be used; empty: unknown
  double memoryBytesPerSecond = 0;   ///< 0: not measured
  std::vector<PlannedDrive> drives;  ///< folders that experts are read from

  /// What a plan for that machine is made from; no turns and no usage, which belong to this one.
  [[nodiscard]] PlanSurroundings surroundings() const;
};

[[nodiscard]] OrderedJson probeJson(const RecordedMachine& machine);
/// One entry of `disks`.
[[nodiscard]] OrderedJson driveJson(const PlannedDrive& drive);

/// Reads a probe object, or a whole report that has one under "probe". Memory and cores are needed, all else may be
/// absent: kernels then follow from the features (AVX2 without those); a drive after the first is taken for a copy on
/// another drive unless it says otherwise. What is there must have the right type and a possible value. `what` names
/// the source in messages. kUsage "bad_probe".
Result<RecordedMachine> probeFromJson(const Json& json, const std::string& what);

}  // namespace colibri
