#pragma once
// Finds the shards of a checkpoint folder, reads all headers and compares them with the index. Reports everything that
// is wrong and keeps what is sound; ShardSet, `info` and `verify` are built on it.

#include "checkpoint/findings.h"
#include "checkpoint/index_file.h"
#include "checkpoint/shard_set.h"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

struct ShardScan {
  std::vector<Shard> shards;        ///< those whose headers could be read, sorted by name
  std::vector<TensorInfo> tensors;  ///< sorted by name; the first of each name when there are several
  std::vector<IndexEntry> unread;   ///< what the index places in shards that could not be read, sorted by name
  bool namesKnown = false;          ///< whether the tensors of unread shards are known (all of them are in `unread`)
  std::uint64_t wantedShards = 0;   ///< shards that should be there
};

/// Never fails as a whole: what cannot be used is reported to `sink`.
ShardScan scanShards(const std::filesystem::path& folder, std::span<const std::filesystem::path> moreFolders,
                     const FindingSink& sink);

/// Where a shard was found.
struct ShardPlace {
  std::filesystem::path path;  ///< resolved; empty: nowhere
  std::uint32_t folder = 0;    ///< 0: `folder`, then `moreFolders`
};

/// Where `name` lies: first in `folder`, then in `moreFolders`. Links are followed, but only inside the folder or, in a
/// hub cache (…/snapshots/<revision>), inside that repository's cache. `why` says what is wrong when it is nowhere or
/// leads outside.
[[nodiscard]] ShardPlace locateShard(const std::filesystem::path& folder,
                                     std::span<const std::filesystem::path> moreFolders, std::string_view name,
                                     std::string& why);

/// The folder that links in `folder` may lead into.
[[nodiscard]] std::filesystem::path linkRoot(const std::filesystem::path& folder);

}  // namespace colibri
