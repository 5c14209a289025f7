#include "base/json.h"
#include "checkpoint/expected_tensors.h"
#include "checkpoint/model_config.h"
#include "checkpoint/model_id.h"
#include "checkpoint/shard_set.h"
#include <colibri/checkpoint.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {
namespace {

// What the routed experts' tensors say, whatever the family. Tensors sorted by name keep one expert's parts together.
class ExpertFacts {
public:
  explicit ExpertFacts(int layers) : m_layerExpertBytes(static_cast<std::size_t>(layers), 0) {}

  void add(const TensorInfo& tensor) {
    const std::string_view name = tensor.name;
    constexpr std::string_view kMiddle = ".ffn.experts.";
    const std::size_t number = name.find(kMiddle) + kMiddle.size();
    const std::string_view expert = name.substr(0, name.find('.', number));
    if (expert != m_expert) {
      finish();
      m_expert = expert;
    }
    m_parts.push_back({tensor.shard, tensor.offset, tensor.bytes});
  }

  void finish() {
    if (m_parts.empty()) return;
    std::sort(m_parts.begin(), m_parts.end(), [](const Extent& a, const Extent& b) {
      return a.shard != b.shard ? a.shard < b.shard : a.offset < b.offset;
    });
    std::uint64_t bytes = 0;
    std::size_t runs = 0;
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
      bytes += m_parts[i].bytes;
      const bool adjacent = i > 0 && m_parts[i - 1].shard == m_parts[i].shard &&
                            m_parts[i - 1].offset + m_parts[i - 1].bytes == m_parts[i].offset;
      if (!adjacent) ++runs;
    }
    m_scattered = m_scattered || runs > 2;
    m_largest = std::max(m_largest, bytes);
    if (const auto layer = layerOf(m_expert); layer < m_layerExpertBytes.size()) {
      m_layerExpertBytes[layer] = std::max(m_layerExpertBytes[layer], bytes);
    }
    m_parts.clear();
  }

  [[nodiscard]] std::uint64_t largest() const { return m_largest; }
  [[nodiscard]] bool scattered() const { return m_scattered; }
  [[nodiscard]] std::uint64_t onePerLayer() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : m_layerExpertBytes) sum += bytes;
    return sum;
  }

private:
  static std::size_t layerOf(std::string_view name) {
    std::size_t layer = 0;
    for (std::size_t i = std::string_view("layers.").size(); i < name.size() && name[i] >= '0' && name[i] <= '9'; ++i) {
      layer = std::min<std::size_t>(layer * 10 + static_cast<std::size_t>(name[i] - '0'), 1U << 20);
    }
    return layer;
  }

  std::string_view m_expert;
  std::vector<Extent> m_parts;
  std::vector<std::uint64_t> m_layerExpertBytes;
  std::uint64_t m_largest = 0;
  bool m_scattered = false;
};

std::uint64_t& partOf(CheckpointBytes& bytes, TensorRole role) {
  switch (role) {
    case TensorRole::kRoutedExpert:
      return bytes.routedExperts;
    case TensorRole::kEmbedding:
      return bytes.embedding;
    case TensorRole::kHead:
      return bytes.head;
    case TensorRole::kDraft:
      return bytes.draft;
    case TensorRole::kEngram:
      return bytes.engram;
    case TensorRole::kVision:
      return bytes.vision;
    case TensorRole::kDense:
      break;
  }
  return bytes.dense;
}

std::vector<std::string> featuresOf(const ModelConfig& config, const ShardSet& shards, const CheckpointBytes& bytes,
                                    bool scattered) {
  std::vector<std::string> features;
  const auto add = [&](bool has, const char* word) {
    if (has) features.emplace_back(word);
  };
  const DraftKind draft = detectDraft(config, shards.tensors()).kind;
  const auto& ratios = config.compressRatios;
  const bool indexer = std::any_of(shards.tensors().begin(), shards.tensors().end(), [](const TensorInfo& tensor) {
    return tensor.name.find(".attn.indexer.") != std::string::npos;
  });
  add(std::any_of(ratios.begin(), ratios.end(), [](int ratio) { return ratio != 0; }), "compressed_attention");
  add(draft == DraftKind::kDspark, "dspark");
  add(bytes.engram > 0, "engram");
  add(config.hashLayers > 0, "hash_routing");
  add(indexer, "indexer");
  add(draft == DraftKind::kMtp, "mtp");
  add(scattered, "scattered_experts");
  add(bytes.vision > 0, "vision");
  add(config.ropeFactor > 1, "yarn");
  return features;
}

}  // namespace

Result<CheckpointInfo> inspectCheckpoint(const std::filesystem::path& folder,
                                         std::span<const std::filesystem::path> shardDirs) {
  COLIBRI_ASSIGN_OR_RETURN(const Json json, loadConfigJson(folder));
  COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::fromJson(json));
  COLIBRI_ASSIGN_OR_RETURN(const auto shards, ShardSet::open(folder, shardDirs));

  CheckpointInfo info;
  ExpertFacts experts(config.layers);
  std::uint64_t lookupTables = 0;
  for (const TensorInfo& tensor : shards->tensors()) {
    const TensorRole role = tensorRole(tensor.name);
    partOf(info.bytes, role) += tensor.bytes;
    info.bytes.total += tensor.bytes;
    if (role == TensorRole::kRoutedExpert) experts.add(tensor);
    if (role == TensorRole::kDense && isLookupTable(tensor.name)) lookupTables += tensor.bytes;
  }
  experts.finish();
  const std::vector<int> counts = expertCounts(config, shards->tensors());
  info.modelType = config.modelType;
  info.layers = config.layers;
  info.expertsPerLayer = *std::max_element(counts.begin(), counts.end());
  info.geometry = std::to_string(info.layers) + "L x " + std::to_string(info.expertsPerLayer) + "E";
  info.expertsPerToken = config.expertsPerToken;
  info.tensors = shards->tensors().size();
  info.shards = shards->shards().size();
  info.expertBytes = experts.largest();
  info.routedBytesPerToken = experts.onePerLayer() * static_cast<std::uint64_t>(config.expertsPerToken);
  info.denseBytesPerToken = info.bytes.dense + info.bytes.head - lookupTables;
  info.contextLimit = config.maxPositions;
  info.modelId = modelIdOf(json, *shards);
  info.features = featuresOf(config, *shards, info.bytes, experts.scattered());
  info.supported = true;  // a family that this version cannot run is refused with its config.json
  return info;
}

}  // namespace colibri
