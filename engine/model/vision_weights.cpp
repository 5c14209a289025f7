#include "model/vision_weights.h"

#include "base/numeric_formats.h"
#include "checkpoint/expected_tensors.h"
#include "checkpoint/findings.h"

#include <string>
#include <utility>

namespace colibri {
namespace {

// One walk for both: without a store it collects what to load, with one it fills the views.
class VisionBinder {
public:
  VisionBinder(const ModelConfig& config, const ShardSet& shards, const DenseStore* store)
      : m_config(config), m_shards(shards), m_store(store) {}

  Status walk(VisionWeights& weights) {
    const VisionConfig& v = m_config.vision;
    biased("vision.patch_embed.proj", v.width, 3 * v.patch * v.patch, weights.patches);
    weights.blocks.resize(static_cast<std::size_t>(v.layers));
    for (std::size_t i = 0; i < weights.blocks.size() && m_status.isOk(); ++i) {
      const std::string prefix = "vision.blocks." + std::to_string(i) + ".";
      VisionBlockWeights& block = weights.blocks[i];
      vector(prefix + "norm1.weight", v.width, block.norm1);
      vector(prefix + "norm2.weight", v.width, block.norm2);
      biased(prefix + "attn.wqkv", 3 * v.width, v.width, block.wqkv);
      biased(prefix + "attn.wo", v.width, v.width, block.wo);
      matrix(prefix + "mlp.w1.weight", 2 * v.inner, v.width, block.w1.matrix);
      matrix(prefix + "mlp.w2.weight", v.width, v.inner, block.w2.matrix);
    }
    vector("vision.norm.weight", v.width, weights.norm);
    biased("aligner.w1", m_config.hiddenSize, v.downsample * v.downsample * v.width, weights.aligner1);
    biased("aligner.w2", m_config.hiddenSize, m_config.hiddenSize, weights.aligner2);
    return m_status;
  }

  [[nodiscard]] std::vector<DenseStore::Want> takeWants() { return std::move(m_wants); }

private:
  void biased(const std::string& name, int out, int in, BiasedMatrix& target) {
    matrix(name + ".weight", out, in, target.matrix);
    vector(name + ".bias", out, target.bias);
  }

  void matrix(const std::string& name, int out, int in, Bf16Matrix& target) {
    target.out = out;
    target.in = in;
    target.weight = want({name, Dtype::kBf16, {static_cast<std::uint64_t>(out), static_cast<std::uint64_t>(in)}});
  }

  void vector(const std::string& name, int size, std::vector<float>& target) {
    const std::uint16_t* bits = want({name, Dtype::kBf16, {static_cast<std::uint64_t>(size)}});
    if (bits == nullptr) return;
    target.resize(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < target.size(); ++i) target[i] = bf16ToFloat(bits[i]);
  }

  const std::uint16_t* want(const ExpectedTensor& expected) {
    if (!m_status.isOk()) return nullptr;
    const TensorInfo* tensor = m_shards.find(expected.name);
    if (tensor == nullptr) {
      m_status = Status(Code::kCheckpoint, "tensor_missing",
                        "The checkpoint lacks the tensor " + expected.name +
                            ", which images need. Download it again or run `coli verify` to see what is wrong.");
      return nullptr;
    }
    if (const auto finding = compareTensor(expected, *tensor, m_shards.shards()[tensor->shard].name)) {
      m_status = findingStatus(*finding);
      return nullptr;
    }
    if (m_store == nullptr) {
      m_wants.push_back({tensor, MemoryTag::kVision});
      return nullptr;
    }
    const std::byte* bytes = m_store->find(expected.name);
    if (bytes == nullptr) m_status = Status(Code::kInternal, "not_loaded", expected.name + " was not loaded.");
    return reinterpret_cast<const std::uint16_t*>(bytes);
  }

  const ModelConfig& m_config;
  const ShardSet& m_shards;
  const DenseStore* m_store;
  std::vector<DenseStore::Want> m_wants;
  Status m_status;
};

}  // namespace

Result<std::vector<DenseStore::Want>> VisionWeights::wants(const ModelConfig& config, const ShardSet& shards) {
  VisionBinder binder(config, shards, nullptr);
  VisionWeights unused;
  COLIBRI_RETURN_IF_ERROR(binder.walk(unused));
  return binder.takeWants();
}

Result<VisionWeights> VisionWeights::bind(const ModelConfig& config, const ShardSet& shards, const DenseStore& store) {
  VisionBinder binder(config, shards, &store);
  VisionWeights weights;
  COLIBRI_RETURN_IF_ERROR(binder.walk(weights));
  return weights;
}

}  // namespace colibri
