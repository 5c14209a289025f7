#include "session/shard_files.h"

#include "base/words.h"
#include "checkpoint/replicas.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

/// Index of the folder that a shard was found in: 0 for the model's, then shardDirs.
std::uint32_t folderOf(const EngineOptions& options, const Shard& shard) {
  std::error_code error;
  for (std::uint32_t i = 0; i < options.shardDirs.size(); ++i) {
    const bool inModel = std::filesystem::exists(options.model / shard.name, error);
    if (!inModel && std::filesystem::exists(options.shardDirs[i] / shard.name, error)) return i + 1;
  }
  return 0;
}

}  // namespace

Result<std::vector<double>> parseDiskWeights(const EngineOptions& options) {
  std::vector<double> weights;
  if (options.diskWeights.empty()) return weights;
  const std::size_t wanted = 1 + options.mirrors.size();
  bool good = true;
  for (const std::string& word : splitWords(options.diskWeights, ";,")) {
    char* end = nullptr;
    const double weight = std::strtod(word.c_str(), &end);
    good = good && end == word.c_str() + word.size() && std::isfinite(weight) && weight > 0;
    weights.push_back(weight);
  }
  if (good && weights.size() == wanted) return weights;
  return Status(Code::kUsage, "disk_weights",
                "--disk-weights must be " + std::to_string(wanted) +
                    " positive numbers separated by commas, one for the model's folder and one for each --mirror; \"" +
                    options.diskWeights + "\" is not.");
}

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
  std::vector<std::filesystem::path> folders{options.model};
  folders.insert(folders.end(), options.shardDirs.begin(), options.shardDirs.end());
  folders.insert(folders.end(), options.mirrors.begin(), options.mirrors.end());
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
  for (const Shard& shard : shards.shards()) found.files.push_back({FileCopy{shard.path, folderOf(options, shard)}});
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
