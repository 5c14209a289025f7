#pragma once
// One shard on its way into a mirror folder.

#include "checkpoint/mirror_file.h"
#include "checkpoint/shard_file.h"
#include "checkpoint/shard_set.h"
#include <colibri/cancellation.h>
#include <colibri/mirror.h>
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace colibri {

/// Called after each piece of at most 8 MiB; `checking` as in MirrorProgress.
using PieceDone = std::function<void(std::uint64_t bytes, bool checking)>;

/// SHA-256 of the whole file as the drive holds it: what the page cache has of it is dropped first. kIo
/// "read_failed", "file_shrank"; kCancelled.
Result<std::string> hashOnDrive(const ShardFile& file, const Cancellation& cancellation,
                                const std::function<void(std::uint64_t bytes)>& pieceDone);

/// What copying a shard needs to know. References must outlive the call.
struct ShardCopy {
  const MirrorSystem& system;
  const Shard& shard;
  const std::filesystem::path& folder;
  std::uint64_t reserveBytes = 0;
  bool partialIsOurs = false;  ///< a leftover under the partial name was begun by Colibri
  const Cancellation& cancellation;
  PieceDone pieceDone;
};

/// Copies to the partial name, going on from what is there as far as it equals the original; reads it back, compares,
/// hands the result to `record` (the receipt) and renames. Errors as stageMirror(); the partial copy then stays.
Result<MirrorCopied> copyShard(const ShardCopy& copy, const std::function<Status(const MirrorCopied&)>& record);

/// Compares a file that is there already with the original, byte by byte by way of their digests. kUsage
/// "mirror_conflict" when they differ.
Result<MirrorCopied> compareShard(const ShardCopy& copy, const std::filesystem::path& present);

}  // namespace colibri
