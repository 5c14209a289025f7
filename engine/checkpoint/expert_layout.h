#pragma once
// Where each routed expert's six tensors lie in the files: contiguous runs merged, scattered ones kept apart.

#include "checkpoint/model_config.h"
#include "checkpoint/shard_set.h"
#include <colibri/status.h>

#include <array>
#include <cstdint>
#include <vector>

namespace colibri {

/// Parts of one routed expert in the released names.
enum class ExpertPart : std::uint8_t { kW1, kW1Scale, kW2, kW2Scale, kW3, kW3Scale, kCount };
inline constexpr std::size_t kExpertParts = static_cast<std::size_t>(ExpertPart::kCount);

/// Where a part lies inside its expert's payload: byte `offset` of extent `extent`.
struct ExpertPartPlace {
  std::uint16_t extent = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// One routed expert: the runs to read (sorted by shard and offset; adjacent tensors merged) and its parts in them.
struct ExpertPlace {
  std::vector<Extent> extents;
  std::array<ExpertPartPlace, kExpertParts> parts;
  [[nodiscard]] std::uint64_t bytes() const;
};

/// Places of every routed expert of the main stack, `[layer][expert]`. Layers may have different numbers of experts.
class ExpertLayout {
public:
  /// kCheckpoint "tensor_missing" / "tensor_shape" / "tensor_dtype" when a part is absent or not as the config needs.
  static Result<ExpertLayout> build(const ModelConfig& config, const ShardSet& shards);

  [[nodiscard]] int layers() const { return static_cast<int>(m_places.size()); }
  [[nodiscard]] int experts(int layer) const { return static_cast<int>(m_places[layer].size()); }
  [[nodiscard]] const ExpertPlace& place(int layer, int expert) const { return m_places[layer][expert]; }
  /// Payload bytes of the largest expert.
  [[nodiscard]] std::uint64_t maxExpertBytes() const;

private:
  std::vector<std::vector<ExpertPlace>> m_places;
};

}  // namespace colibri
