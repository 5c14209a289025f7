#pragma once
// Copies of shards in other folders that may be read in place of the originals.

#include "checkpoint/shard_set.h"
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace colibri {

/// One accepted copy of a shard.
struct Replica {
  std::filesystem::path path;  ///< resolved; a regular file when it was examined
  std::uint32_t mirror = 0;    ///< index into the list of mirrors
};

struct ReplicaSet {
  std::vector<std::vector<Replica>> byShard;  ///< by index into ShardSet::shards(), in the order of the mirrors
  std::vector<std::string> notices;           ///< refused files and doubtful places, one sentence each
};

/// Looks in each folder for copies of the shards. A file is accepted when its size and its header (the first 8 + N
/// bytes) equal the original's; a shard that is not there stays on the original; a file that differs is left out and
/// told as a notice. Copies on the original's drive, or that are the original itself, are accepted with a notice.
/// Reads headers only. Errors: kUsage "mirror_missing" (no such folder), "mirror_empty" (nothing acceptable in it); kIo
/// when an original cannot be read. Blocking; any thread.
Result<ReplicaSet> findReplicas(const ShardSet& shards, std::span<const std::filesystem::path> mirrors);

enum class ReplicaState { kAbsent, kAccepted, kRefused };

/// What stands in a folder under a shard's name.
struct ReplicaFile {
  ReplicaState state = ReplicaState::kAbsent;
  std::filesystem::path path;  ///< resolved; empty unless accepted
  bool isOriginal = false;     ///< the same file as the shard itself
  bool sharesDrive = false;    ///< on the same drive as the shard
  std::string why;             ///< for kRefused: what is wrong, a clause ("it has 5 bytes, the original 9")
};

/// Examines `folder`/`shard.name` by the rule of findReplicas(). Links lead where a shard's own may (inside the folder
/// or its hub cache), or to the original. kIo when the original cannot be read.
Result<ReplicaFile> examineReplica(const Shard& shard, const std::filesystem::path& folder);

/// Whether two device numbers (st_dev) belong to one drive: the same, or partitions of one disk.
[[nodiscard]] bool isSameDrive(std::uint64_t a, std::uint64_t b);

}  // namespace colibri
