#pragma once
// The folders that experts are read from, with what is known or assumed about their drives.

#include "checkpoint/shard_set.h"
#include <colibri/engine.h>
#include <colibri/plan.h>
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

/// The folders that weights are read from: the model's, then shardDirs, then mirrors. Drives are numbered so.
[[nodiscard]] std::vector<std::filesystem::path> weightFolders(const EngineOptions& options);

/// The largest shard of the model that lies in `folder`, which its drive is measured with; empty when none does.
[[nodiscard]] std::filesystem::path largestShard(const ShardSet& shards, const std::filesystem::path& folder);

/// What a kind of drive is taken for until it is measured, in bytes a second at expert size.
[[nodiscard]] double assumedDriveRate(std::string_view kind);

/// The model's folder, then shardDirs, then mirrors of `options`: file system, kind and warning as they are now; rates
/// as options.dataFolder remembers them, else assumed. `expertBytesIn`: routed expert bytes whose originals lie in the
/// model's folder and in each of the shardDirs, for the weights of distinct shards; may be empty (all in the first).
[[nodiscard]] std::vector<PlannedDrive> plannedDrives(const EngineOptions& options,
                                                      std::span<const std::uint64_t> expertBytesIn = {});

/// options.diskWeights as numbers: one for all originals and one for each mirror; empty when none were given. kUsage
/// "disk_weights" when they are not that many positive numbers.
Result<std::vector<double>> parseDiskWeights(const EngineOptions& options);

/// Bytes a second of all drives together, reads split by their weights: distinct shards by what they hold, copies on
/// other drives by their rates or by `diskWeights`; copies on a drive that is already counted add nothing. 0: unknown.
[[nodiscard]] double combinedRate(std::span<const PlannedDrive> drives);

/// Short name of a set of folders; measured rates are remembered with it.
[[nodiscard]] std::string driveSetName(std::span<const PlannedDrive> drives);

}  // namespace colibri
