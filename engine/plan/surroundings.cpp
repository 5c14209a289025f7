#include "plan/surroundings.h"

#include "checkpoint/expected_tensors.h"
#include "plan/memory_rate.h"
#include "plan/planned_drives.h"
#include "plan/probe.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>

namespace colibri {

PlanSurroundings surroundingsHere(const EngineOptions& options, const ShardSet& shards, const std::string& isa,
                                  const std::vector<TurnRecord>& turns) {
  PlanSurroundings around;
  around.freeBytes = availableMemoryBytes();
  around.physicalCores = physicalCores();
  around.isa = isa;
  const std::vector<std::uint64_t> expertBytes = expertBytesByFolder(options, shards);
  around.drives = plannedDrives(options, expertBytes);
  around.turns = turns;
  const int threads = options.threads.value_or(around.physicalCores);
  const bool isKnown = std::any_of(turns.begin(), turns.end(), [&](const TurnRecord& turn) {
    return turn.isa == isa && turn.threads == threads && turn.decode.tokens > 0;
  });
  // Opening a small model takes less time than measuring.
  if (!isKnown && std::accumulate(expertBytes.begin(), expertBytes.end(), std::uint64_t{0}) >= kWorthMeasuringBytes) {
    constexpr std::uint64_t kMost = std::uint64_t{192} << 20;
    const std::uint64_t budget = std::min(options.ramBytes.value_or(around.freeBytes), around.freeBytes);
    around.memoryBytesPerSecond = measureMemoryRate(threads, std::min(kMost, budget / 16));
  }
  return around;
}

std::vector<std::uint64_t> expertBytesByFolder(const EngineOptions& options, const ShardSet& shards) {
  std::vector<std::uint64_t> folders(options.shardDirs.size() + 1, 0);
  for (const TensorInfo& tensor : shards.tensors()) {
    if (tensorRole(tensor.name) != TensorRole::kRoutedExpert) continue;
    folders[shards.shards()[tensor.shard].folder] += tensor.bytes;
  }
  return folders;
}

}  // namespace colibri
