#pragma once
// A model and a mirror folder for it: opened, and sure to be two different places.

#include "checkpoint/mirror_receipt.h"
#include "checkpoint/shard_set.h"
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace colibri {

struct MirrorSource {
  std::filesystem::path model;
  std::filesystem::path folder;  ///< absolute
  bool folderExists = false;
  std::filesystem::path existing;  ///< the folder or its nearest parent that is there
  std::shared_ptr<const ShardSet> shards;
  std::string modelId;
  std::vector<std::uint64_t> expertBytes;  ///< of routed experts, by shard

  /// Position in `shards` of a shard's name.
  [[nodiscard]] std::optional<std::size_t> indexOf(std::string_view name) const;
};

/// Opens the model and checks the folder. kUsage "bad_mirror_folder" when the folder is a file, the model's folder (or
/// one that holds its shards), or lies inside; errors of ShardSet::open() and modelIdOf().
Result<MirrorSource> openMirrorSource(const std::filesystem::path& model, const std::filesystem::path& folder,
                                      std::span<const std::filesystem::path> shardDirs);

/// kUsage "mirror_missing" unless the folder is there.
Status requireMirrorFolder(const MirrorSource& source);

/// kUsage "mirror_other_model" when the receipt belongs to another model.
Status requireSameModel(const MirrorSource& source, const MirrorReceipt& receipt);

/// Modification time in nanoseconds since 1970; 0 when the file cannot be looked at.
[[nodiscard]] std::int64_t modifiedNanoseconds(const std::filesystem::path& path);

/// The name that a shard has while it is copied.
[[nodiscard]] inline std::string partialName(const std::string& shard) {
  return shard + ".partial";
}

}  // namespace colibri
