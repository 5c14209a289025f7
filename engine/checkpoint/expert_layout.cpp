#include "checkpoint/expert_layout.h"

#include "checkpoint/expected_tensors.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace colibri {
namespace {

// Puts the parts in file order and merges what is adjacent in one file into one extent.
ExpertPlace mergeParts(const std::array<const TensorInfo*, kExpertParts>& tensors) {
  std::array<std::size_t, kExpertParts> order{};
  for (std::size_t i = 0; i < kExpertParts; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const TensorInfo& x = *tensors[a];
    const TensorInfo& y = *tensors[b];
    return x.shard != y.shard ? x.shard < y.shard : x.offset < y.offset;
  });
  ExpertPlace place;
  for (const std::size_t part : order) {
    const TensorInfo& tensor = *tensors[part];
    Extent* last = place.extents.empty() ? nullptr : &place.extents.back();
    if (last == nullptr || last->shard != tensor.shard || last->offset + last->bytes != tensor.offset) {
      place.extents.push_back({tensor.shard, tensor.offset, 0});
      last = &place.extents.back();
    }
    place.parts[part] = {static_cast<std::uint16_t>(place.extents.size() - 1), last->bytes, tensor.bytes};
    last->bytes += tensor.bytes;
  }
  return place;
}

}  // namespace

std::uint64_t ExpertPlace::bytes() const {
  std::uint64_t sum = 0;
  for (const ExpertPartPlace& part : parts) sum += part.bytes;
  return sum;
}

Result<ExpertLayout> ExpertLayout::build(const ModelConfig& config, const ShardSet& shards) {
  const std::vector<int> counts = expertCounts(config, shards.tensors());
  ExpertLayout layout;
  layout.m_places.resize(static_cast<std::size_t>(config.layers));
  for (int layer = 0; layer < config.layers; ++layer) {
    auto& experts = layout.m_places[static_cast<std::size_t>(layer)];
    const int count = counts[static_cast<std::size_t>(layer)];
    experts.reserve(static_cast<std::size_t>(count));
    for (int expert = 0; expert < count; ++expert) {
      std::array<const TensorInfo*, kExpertParts> tensors{};
      for (std::size_t part = 0; part < kExpertParts; ++part) {
        const std::string name = expertTensorName(layer, expert, static_cast<ExpertPart>(part));
        const TensorInfo* tensor = shards.find(name);
        if (tensor == nullptr) {
          return Status(Code::kCheckpoint, "tensor_missing",
                        "Tensor \"" + name + "\" is missing. Verify the checkpoint and download what is missing.",
                        name);
        }
        const ExpectedTensor expected = expectedExpertPart(config, name, static_cast<ExpertPart>(part));
        if (const auto finding = compareTensor(expected, *tensor, shards.shards()[tensor->shard].name)) {
          return findingStatus(*finding);
        }
        tensors[part] = tensor;
      }
      experts.push_back(mergeParts(tensors));
    }
  }
  return layout;
}

std::uint64_t ExpertLayout::maxExpertBytes() const {
  std::uint64_t most = 0;
  for (const auto& layer : m_places) {
    for (const ExpertPlace& place : layer) most = std::max(most, place.bytes());
  }
  return most;
}

}  // namespace colibri
