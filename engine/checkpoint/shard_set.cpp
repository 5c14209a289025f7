#include "checkpoint/shard_set.h"

#include "checkpoint/shard_scan.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace colibri {

Result<std::shared_ptr<const ShardSet>> ShardSet::open(const std::filesystem::path& folder,
                                                       std::span<const std::filesystem::path> moreFolders) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return Status(Code::kCheckpoint, "missing_folder",
                  folder.string() + " is not a folder. Choose the folder that holds config.json and the shards.");
  }
  std::optional<Finding> first;
  ShardScan scan = scanShards(folder, moreFolders, [&](Finding finding) {
    if (!first && finding.severity == Severity::kError) first = std::move(finding);
  });
  if (first) return findingStatus(*first);
  if (scan.shards.empty()) {
    return Status(Code::kCheckpoint, "missing_shard", "There is no .safetensors file in " + folder.string() + ".");
  }
  return assemble(std::move(scan.shards), std::move(scan.tensors));
}

std::shared_ptr<const ShardSet> ShardSet::assemble(std::vector<Shard> shards, std::vector<TensorInfo> tensors) {
  auto set = std::make_shared<ShardSet>();
  set->m_shards = std::move(shards);
  set->m_tensors = std::move(tensors);
  return set;
}

const TensorInfo* ShardSet::find(std::string_view name) const {
  const auto at =
      std::lower_bound(m_tensors.begin(), m_tensors.end(), name,
                       [](const TensorInfo& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return at != m_tensors.end() && at->name == name ? &*at : nullptr;
}

}  // namespace colibri
