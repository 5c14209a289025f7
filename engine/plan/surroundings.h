#pragma once
// The machine that a plan is for, and what is remembered of it.

#include "checkpoint/shard_set.h"
#include "plan/turn_history.h"
#include <colibri/engine.h>
#include <colibri/plan.h>

#include <cstdint>
#include <string>
#include <vector>

namespace colibri {

class UsageHistory;

/// Routed expert bytes of a model from which on it pays to measure memory and drives before loading it.
inline constexpr std::uint64_t kWorthMeasuringBytes = std::uint64_t{256} << 20;

struct PlanSurroundings {
  std::uint64_t freeBytes = 0;          ///< availableMemoryBytes()
  int physicalCores = 1;                ///< the thread count unless one is given
  std::string isa;                      ///< Kernels::name of the kernels in use; "" is taken for the portable ones
  double memoryBytesPerSecond = 0;      ///< measureMemoryRate(); 0: not measured
  std::vector<PlannedDrive> drives;     ///< plannedDrives(); empty: nothing is predicted where experts must be read
  const UsageHistory* usage = nullptr;  ///< may be null; outlives the call
  std::vector<TurnRecord> turns;        ///< TurnHistory::turns(); empty for another machine's probe
};

/// This machine as it is now: free memory, cores, drives as remembered or assumed. The memory's rate is measured (about
/// a tenth of a second and at most a sixteenth of the budget) only for models that are large enough and where no
/// recorded turn of this isa and thread count tells more. `usage` is the caller's to fill in. Blocks.
[[nodiscard]] PlanSurroundings surroundingsHere(const EngineOptions& options, const ShardSet& shards,
                                                const std::string& isa, const std::vector<TurnRecord>& turns);

/// Bytes of routed experts in the model's folder and each of the shardDirs, by where the shards were found.
[[nodiscard]] std::vector<std::uint64_t> expertBytesByFolder(const EngineOptions& options, const ShardSet& shards);

}  // namespace colibri
