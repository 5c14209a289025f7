#pragma once
// A small set of shards with routed experts at known places: contiguous as released, or scattered as in pruned
// checkpoints.

#include "checkpoint/expected_tensors.h"
#include "checkpoint/expert_layout.h"
#include "engine/io/fault_backend.h"
#include "engine/io/test_files.h"
#include "store/expert_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace colibri::testing {

enum class Placement {
  kContiguous,  ///< weights in one run, scales in another
  kScattered,   ///< each part alone, at odd offsets, in two shards
};

class ExpertFiles {
public:
  static constexpr int kLayers = 3;
  static constexpr int kExperts = 12;

  explicit ExpertFiles(Placement placement) {
    m_config.layers = kLayers;
    m_config.routedExperts = kExperts;
    m_config.hiddenSize = 128;
    m_config.moeIntermediate = 64;
    for (int layer = 0; layer < kLayers; ++layer) {
      for (int expert = 0; expert < kExperts; ++expert) place(layer, expert, placement);
    }
    std::sort(m_tensors.begin(), m_tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    std::vector<Shard> shards;
    for (std::size_t i = 0; i < m_ends.size(); ++i) {
      // The last tensor ends with the file, inside a block.
      m_images.push_back(patternBytes(i + 1, m_ends[i]));
      m_paths.push_back(m_folder.path() / ("shard" + std::to_string(i)));
      writeBytes(m_paths.back(), m_images.back());
      shards.push_back({"shard" + std::to_string(i), m_paths.back(), m_ends[i], 0, 0});
    }
    m_shards = ShardSet::assemble(std::move(shards), m_tensors);
  }

  [[nodiscard]] ExpertLayout layout() const {
    auto layout = ExpertLayout::build(m_config, *m_shards);
    EXPECT_TRUE(layout.isOk()) << layout.status().message();
    return std::move(layout).value();
  }

  [[nodiscard]] std::unique_ptr<ReadBackend> backend(const std::shared_ptr<FaultControl>& control,
                                                     ReadOptions options = {}) const {
    auto backend = openReadBackend(m_paths, options);
    EXPECT_TRUE(backend.isOk()) << backend.status().message();
    return std::make_unique<FaultBackend>(std::move(backend).value(), control);
  }

  [[nodiscard]] std::unique_ptr<ExpertStore> store(std::uint64_t slots, const std::shared_ptr<FaultControl>& control,
                                                   ReadOptions options = {}) const {
    auto store = ExpertStore::create(layout(), backend(control, options), {slots, nullptr}, nullptr);
    EXPECT_TRUE(store.isOk()) << store.status().message();
    return std::move(store).value();
  }

  /// Whether all six parts of a view are the bytes of the files.
  [[nodiscard]] bool matches(int layer, int expert, const ExpertView& view) const {
    for (std::size_t part = 0; part < kExpertParts; ++part) {
      const TensorInfo* tensor = m_shards->find(expertTensorName(layer, expert, static_cast<ExpertPart>(part)));
      if (std::memcmp(view.parts[part], m_images[tensor->shard].data() + tensor->offset, tensor->bytes) != 0)
        return false;
    }
    return true;
  }

  [[nodiscard]] const std::vector<std::filesystem::path>& paths() const { return m_paths; }
  [[nodiscard]] const ModelConfig& config() const { return m_config; }
  [[nodiscard]] const ShardSet& shards() const { return *m_shards; }

private:
  void place(int layer, int expert, Placement placement) {
    // Weights before scales; the order inside each is the released one.
    constexpr ExpertPart kOrder[] = {ExpertPart::kW1,      ExpertPart::kW2,      ExpertPart::kW3,
                                     ExpertPart::kW1Scale, ExpertPart::kW2Scale, ExpertPart::kW3Scale};
    for (const ExpertPart part : kOrder) {
      const auto expected = expectedExpertPart(m_config, expertTensorName(layer, expert, part), part);
      std::uint64_t bytes = dtypeBits(expected.dtype) / 8;
      for (const std::uint64_t size : expected.shape) bytes *= size;
      const bool scattered = placement == Placement::kScattered;
      const std::uint32_t shard = scattered ? static_cast<std::uint32_t>(m_tensors.size() % 2) : 0;
      if (scattered || part == ExpertPart::kW1 || part == ExpertPart::kW1Scale) m_ends[shard] += 1237;
      m_tensors.push_back({expected.name, expected.dtype, expected.shape, shard, m_ends[shard], bytes});
      m_ends[shard] += bytes;
    }
  }

  TemporaryFolder m_folder;
  ModelConfig m_config;
  std::vector<TensorInfo> m_tensors;
  std::vector<std::uint64_t> m_ends{1001, 77};
  std::vector<std::vector<std::byte>> m_images;
  std::vector<std::filesystem::path> m_paths;
  std::shared_ptr<const ShardSet> m_shards;
};

}  // namespace colibri::testing
