#include "plan/model_costs.h"

#include "checkpoint/expected_tensors.h"
#include "store/dense_streaming.h"

#include <algorithm>
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

ModelSizes emptySizes(const ModelConfig& config, const LayerPlan& layers) {
  ModelSizes sizes;
  sizes.costs.expertsPerToken = config.expertsPerToken;
  sizes.costs.layers.resize(static_cast<std::size_t>(config.layers));
  for (std::size_t i = 0; i < sizes.costs.layers.size(); ++i) {
    LayerCost& cost = sizes.costs.layers[i];
    const LayerSpec& spec = layers.layers[i];
    cost.knowsExpertsEarly = spec.router == RouterKind::kHash;
    cost.promptReach = layers.outputReach(static_cast<int>(i), config.slidingWindow);
    if (spec.engram >= 0) cost.tableRows = config.engram.columns();
  }
  return sizes;
}

}  // namespace

std::int64_t LayerCost::rowsOf(std::int64_t rows, std::int64_t after) const {
  return promptReach == 0 ? rows : std::clamp<std::int64_t>(promptReach - after, 0, rows);
}

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

ModelSizes sizesOf(const ModelConfig& config, const LayerPlan& layers, std::span<const DenseStore::Want> wants,
                   const ExpertLayout& layout) {
  ModelSizes sizes = emptySizes(config, layers);
  addWants(wants, sizes);
  for (int layer = 0; layer < layout.layers(); ++layer) {
    LayerCost& cost = sizes.costs.layers[static_cast<std::size_t>(layer)];
    cost.experts = layout.experts(layer);
    if (cost.experts > 0) cost.expertBytes = layout.place(layer, 0).bytes();
  }
  return sizes;
}

}  // namespace colibri
