#pragma once
// The shards of one checkpoint: opened, headers read and checked, tensors found by name. Tensor data is never read
// here.

#include "checkpoint/tensor.h"
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

struct Shard {
  std::string name;            ///< plain file name ("model-00001-of-00046.safetensors")
  std::filesystem::path path;  ///< resolved path (through hub-cache links)
  std::uint64_t fileBytes = 0;
  std::uint64_t headerBytes = 0;  ///< 8 + N
  std::uint32_t folder = 0;       ///< where it was found: 0 the checkpoint's own folder, then the further ones
};

/// Immutable after open; safe to share between threads.
class ShardSet {
public:
  /// Reads the index (or finds the single file) and every header in `folder`; shards that are not there are looked for
  /// in `moreFolders`. The first thing wrong is the error (kCheckpoint, id = a code of `coli verify`).
  static Result<std::shared_ptr<const ShardSet>> open(const std::filesystem::path& folder,
                                                      std::span<const std::filesystem::path> moreFolders = {});

  /// From a scan: `tensors` sorted by name, each name once, shard indices valid.
  static std::shared_ptr<const ShardSet> assemble(std::vector<Shard> shards, std::vector<TensorInfo> tensors);

  [[nodiscard]] const std::vector<Shard>& shards() const { return m_shards; }
  /// All tensors, sorted by name.
  [[nodiscard]] const std::vector<TensorInfo>& tensors() const { return m_tensors; }
  /// nullptr when there is none of that name. O(log n).
  [[nodiscard]] const TensorInfo* find(std::string_view name) const;

private:
  std::vector<Shard> m_shards;
  std::vector<TensorInfo> m_tensors;
};

}  // namespace colibri
