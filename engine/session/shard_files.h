#pragma once
// Which files the weights are read from: the shards, wherever they were found, and their copies on other drives.

#include "checkpoint/shard_set.h"
#include "io/read_backend.h"
#include <colibri/engine.h>
#include <colibri/status.h>

#include <string>
#include <vector>

namespace colibri {

struct ShardFiles {
  std::vector<ReadFile> files;       ///< by shard
  std::vector<DriveOptions> drives;  ///< the model's folder, then shardDirs, then mirrors
  std::vector<std::string> notices;  ///< copies that are not used, doubtful mirrors
};

/// Checks the copies in options.mirrors against the shards and takes weights and queue depths from the plan's drives,
/// weights from options.diskWeights where given. Errors: as findReplicas() and parseDiskWeights().
Result<ShardFiles> findShardFiles(const EngineOptions& options, const ShardSet& shards,
                                  const std::vector<PlannedDrive>& planned);

/// How the engine's files are opened.
[[nodiscard]] ReadOptions readOptions(const EngineOptions& options, int queueDepth);

}  // namespace colibri
