#pragma once
// Images to rows of the language model: preprocessing, tower and aligner, with weights that come and go.

#include "base/ledger.h"
#include "checkpoint/model_config.h"
#include "checkpoint/shard_set.h"
#include "image/preprocess.h"
#include "io/read_backend.h"
#include "kernels/kernels.h"
#include "model/team.h"
#include "model/vision_tower.h"
#include "store/dense_store.h"
#include <colibri/cancellation.h>
#include <colibri/image.h>
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace colibri {

/// For one thread at a time. Config, shards, kernels and team outlive it.
class ImageEncoder {
public:
  /// Reads nothing yet. `maxTokens`: a ceiling on one image's tokens, absent: the checkpoint's. `files`: by shard, read
  /// from their primary copies. kUnavailable when the model takes no images, kUsage for an impossible ceiling,
  /// kCheckpoint when a tensor is missing or misshapen.
  static Result<std::unique_ptr<ImageEncoder>> create(const ModelConfig& config, const ShardSet& shards,
                                                      const Kernels& kernels, const Team& team, Numerics numerics,
                                                      std::optional<int> maxTokens, const std::vector<ReadFile>& files,
                                                      std::shared_ptr<Ledger> ledger);

  /// What the tower makes of an image.
  struct Encoding {
    ImageSize size;
    std::string id;
    VisionRows rows;
  };
  /// Loads the weights first when they are not there. kUsage for pixels that are none, kMemory, kIo, kCheckpoint,
  /// kCancelled (within 100 ms or the reads in flight).
  Result<Encoding> compute(const ImagePixels& pixels, bool keepTower, const Cancellation& cancellation);
  /// The same as the engine hands it out.
  Result<std::shared_ptr<const EncodedImage>> encode(const ImagePixels& pixels, const Cancellation& cancellation);

  /// Bytes of the ledger that weights and the largest image take.
  [[nodiscard]] std::uint64_t bytesNeeded() const;
  [[nodiscard]] bool loaded() const { return m_store != nullptr; }
  /// Gives the weights back; the next image loads them again.
  void drop();

private:
  ImageEncoder(const ModelConfig& config, const ShardSet& shards, const Kernels& kernels, const Team& team)
      : m_config(config), m_shards(shards), m_kernels(kernels), m_team(team) {}
  Status load(const Cancellation& cancellation);

  const ModelConfig& m_config;
  const ShardSet& m_shards;
  const Kernels& m_kernels;
  const Team& m_team;
  Numerics m_numerics = Numerics::kVendor;
  int m_maxTokens = 0;
  std::vector<std::filesystem::path> m_files;  ///< by shard
  std::shared_ptr<Ledger> m_ledger;
  std::vector<DenseStore::Want> m_wants;
  std::unique_ptr<DenseStore> m_store;
  VisionWeights m_weights;
};

}  // namespace colibri
