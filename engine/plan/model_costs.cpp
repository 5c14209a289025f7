#include "plan/model_costs.h"

#include "checkpoint/expected_tensors.h"
#include "store/dense_streaming.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace colibri {
namespace {

/// Number of the decoder layer in "layers.7.…".
std::optional<std::size_t> layerOf(std::string_view name, std::size_t layers) {
  constexpr std::string_view kPrefix = "layers.";
  if (name.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  std::size_t layer = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + kPrefix.size(), end, layer);
  if (error != std::errc() || rest == end || *rest != '.' || layer >= layers) return std::nullopt;
  return layer;
}

void addWant(const DenseStore::Want& want, ModelSizes& sizes) {
  const TensorInfo& tensor = *want.tensor;
  (want.tag == MemoryTag::kHead ? sizes.resident.head : sizes.resident.dense) += tensor.bytes;
  const bool streams = streamsWhenShort(want);
  if (streams) sizes.resident.streamable += tensor.bytes;
  if (isLookupTable(tensor.name)) return;
  const auto layer = layerOf(tensor.name, sizes.costs.layers.size());
  if (!layer) {
    sizes.costs.headBytes += tensor.bytes;
    return;
  }
  LayerCost& cost = sizes.costs.layers[*layer];
  const bool shared = tensor.name.find(".shared_experts.") != std::string::npos;
  (shared ? cost.sharedBytes : cost.denseBytes) += tensor.bytes;
  if (streams) cost.streamedBytes += tensor.bytes;
}

void addWants(std::span<const DenseStore::Want> wants, ModelSizes& sizes) {
  for (const DenseStore::Want& want : wants) addWant(want, sizes);
  sizes.resident.windows = streamingWindowBytes(wants);
}

ModelSizes emptySizes(const ModelConfig& config) {
  ModelSizes sizes;
  sizes.costs.expertsPerToken = config.expertsPerToken;
  sizes.costs.layers.resize(static_cast<std::size_t>(config.layers));
  for (std::size_t i = 0; i < sizes.costs.layers.size(); ++i) {
    sizes.costs.layers[i].knowsExpertsEarly = static_cast<int>(i) < config.hashLayers;
  }
  return sizes;
}

bool isEngramTable(std::string_view name) {
  return name.ends_with(".engram.embed.weight") || name.ends_with(".engram.embed.scale");
}

bool isDraftExpert(std::string_view name) {
  return name.find(".ffn.experts.") != std::string_view::npos;
}

}  // namespace

std::uint64_t ModelCosts::totalExperts() const {
  std::uint64_t sum = 0;
  for (const LayerCost& layer : layers) sum += static_cast<std::uint64_t>(layer.experts);
  return sum;
}

std::uint64_t ModelCosts::routedBytesPerToken() const {
  std::uint64_t sum = 0;
  for (const LayerCost& layer : layers) sum += layer.expertBytes;
  return sum * static_cast<std::uint64_t>(expertsPerToken);
}

std::uint64_t ModelCosts::denseBytesPerToken() const {
  std::uint64_t sum = headBytes;
  for (const LayerCost& layer : layers) sum += layer.denseBytes + layer.sharedBytes;
  return sum;
}

ModelSizes sizesOf(const ModelConfig& config, std::span<const DenseStore::Want> wants, const ExpertLayout& layout) {
  ModelSizes sizes = emptySizes(config);
  addWants(wants, sizes);
  for (int layer = 0; layer < layout.layers(); ++layer) {
    LayerCost& cost = sizes.costs.layers[static_cast<std::size_t>(layer)];
    cost.experts = layout.experts(layer);
    if (cost.experts > 0) cost.expertBytes = layout.place(layer, 0).bytes();
  }
  return sizes;
}

ModelSizes sizesFromHeaders(const ModelConfig& config, const ShardSet& shards) {
  ModelSizes sizes = emptySizes(config);
  std::vector<DenseStore::Want> wants;
  for (const TensorInfo& tensor : shards.tensors()) {
    switch (tensorRole(tensor.name)) {
      case TensorRole::kDense:
        wants.push_back({&tensor, MemoryTag::kDense});
        break;
      case TensorRole::kEngram:
        if (!isEngramTable(tensor.name)) wants.push_back({&tensor, MemoryTag::kDense});
        break;
      case TensorRole::kEmbedding:
      case TensorRole::kHead:
        wants.push_back({&tensor, MemoryTag::kHead});
        break;
      case TensorRole::kDraft:
        if (!isDraftExpert(tensor.name)) sizes.resident.draft += tensor.bytes;
        break;
      case TensorRole::kVision:
        sizes.resident.vision += tensor.bytes;
        break;
      case TensorRole::kRoutedExpert:
        // All experts of a layer have one size; the first one's six tensors are counted below.
        if (const auto layer = layerOf(tensor.name, sizes.costs.layers.size());
            layer && tensor.name.find(".ffn.experts.0.") != std::string::npos) {
          sizes.costs.layers[*layer].expertBytes += tensor.bytes;
        }
        break;
    }
  }
  addWants(wants, sizes);
  const std::vector<int> counts = expertCounts(config, shards.tensors());
  for (std::size_t i = 0; i < sizes.costs.layers.size(); ++i) {
    LayerCost& cost = sizes.costs.layers[i];
    cost.experts = cost.expertBytes == 0 ? 0 : counts[i];
  }
  return sizes;
}

}  // namespace colibri
