#include "session/shard_files.h"

#include "checkpoint/replicas.h"
#include "plan/planned_drives.h"

#include <utility>

namespace colibri {

ReadOptions readOptions(const EngineOptions& options, int queueDepth) {
  ReadOptions read;
  read.direct = options.direct;
  read.queueDepth = queueDepth;
  switch (options.io) {
    case IoChoice::kAuto:
      read.kind = IoKind::kAuto;
      break;
    case IoChoice::kUring:
      read.kind = IoKind::kUring;
      break;
    case IoChoice::kThreads:
      read.kind = IoKind::kThreads;
      break;
  }
  return read;
}

Result<ShardFiles> findShardFiles(const EngineOptions& options, const ShardSet& shards,
                                  const std::vector<PlannedDrive>& planned) {
  ShardFiles found;
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<double> weights, parseDiskWeights(options));
  const auto firstMirror = static_cast<std::uint32_t>(1 + options.shardDirs.size());
  const std::vector<std::filesystem::path> folders = weightFolders(options);
  for (std::uint32_t i = 0; i < folders.size(); ++i) {
    DriveOptions drive;
    drive.name = folders[i].string();
    if (i < planned.size()) {
      drive.queueDepth = options.queueDepth ? 0 : planned[i].queueDepth;
      // A copy on the original's own drive adds no speed, and is read all the same.
      const double own = planned[i].weight > 0 ? planned[i].weight : planned[0].weight;
      drive.weight = own > 0 ? own : 1;
    }
    // Folders with further shards count as the model's own.
    if (!weights.empty()) drive.weight = i < firstMirror ? weights[0] : weights[1 + i - firstMirror];
    found.drives.push_back(std::move(drive));
  }
  for (const Shard& shard : shards.shards()) found.files.push_back({FileCopy{shard.path, shard.folder}});
  if (options.mirrors.empty()) return found;
  COLIBRI_ASSIGN_OR_RETURN(ReplicaSet replicas, findReplicas(shards, options.mirrors));
  for (std::size_t i = 0; i < found.files.size(); ++i) {
    for (const Replica& replica : replicas.byShard[i]) {
      found.files[i].push_back({replica.path, firstMirror + replica.mirror});
    }
  }
  found.notices = std::move(replicas.notices);
  return found;
}

}  // namespace colibri
