#pragma once
// model.safetensors.index.json: which shard holds which tensor.

#include <colibri/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

struct IndexEntry {
  std::string tensor;
  std::uint32_t file = 0;  ///< index into IndexFile::files
};

struct IndexFile {
  std::vector<std::string> files;   ///< plain names, sorted
  std::vector<IndexEntry> entries;  ///< sorted by tensor name, no name twice
  std::optional<double> totalSize;  ///< metadata.total_size, only informative
};

inline constexpr std::size_t kMaxIndexBytes = std::size_t{64} << 20;
inline constexpr std::string_view kIndexName = "model.safetensors.index.json";
inline constexpr std::string_view kSingleName = "model.safetensors";

/// Whether `name` may stand in an index: a plain file name that ends in .safetensors and cannot leave its folder.
[[nodiscard]] bool isPlainShardName(std::string_view name);

/// Parses and checks the whole text. kCheckpoint "index_mismatch", a sentence.
Result<IndexFile> parseIndex(std::string_view json);

}  // namespace colibri
