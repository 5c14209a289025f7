#include "model/weights.h"

#include "base/numeric_formats.h"

#include <cstring>
#include <string>
#include <utility>

namespace colibri {
namespace {

std::string shapeText(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

// Walks the model once and asks for each tensor by role. The same walk first collects what to load (no store yet), then
// fills the views, so the two can never disagree.
class Binder {
public:
  Binder(const ModelConfig& config, const LayerPlan& plan, const ShardSet& shards, const DenseStore* store)
      : m_config(config), m_plan(plan), m_shards(shards), m_store(store) {}

  Status walk(ModelWeights& model) {
    const auto& c = m_config;
    const int streams = c.hcMult * c.hiddenSize;
    m_tag = MemoryTag::kHead;
    bf16("embed.weight", c.vocabSize, c.hiddenSize, model.embed);
    bf16("head.weight", c.vocabSize, c.hiddenSize, model.head);
    m_tag = MemoryTag::kDense;
    norm("norm.weight", c.hiddenSize, model.norm);
    if (!m_plan.laggedMix) {
      f32("hc_head_fn", {c.hcMult, streams}, model.hcHeadFn.weight);
      model.hcHeadFn.out = c.hcMult;
      model.hcHeadFn.in = streams;
      f32("hc_head_base", {c.hcMult}, model.hcHeadBase);
      f32("hc_head_scale", {1}, model.hcHeadScale);
    }
    if (c.imageToken >= 0 && c.vision.present()) {
      norm("image_start", c.hiddenSize, model.imageStart);
      norm("image_newline", c.hiddenSize, model.imageNewline);
      norm("image_end", c.hiddenSize, model.imageEnd);
    }
    model.layers.resize(m_plan.layers.size());
    for (int i = 0; i < static_cast<int>(m_plan.layers.size()) && m_status.isOk(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      layer("layers." + std::to_string(i) + ".", i, m_plan.layers[at], model.layers[at]);
    }
    return m_status;
  }

  [[nodiscard]] std::vector<DenseStore::Want> takeWants() { return std::move(m_wants); }

private:
  void layer(const std::string& p, int self, const LayerSpec& spec, LayerWeights& w) {
    const auto& c = m_config;
    const int headsWidth = c.heads * c.headDim;
    norm(p + "attn_norm.weight", c.hiddenSize, w.attnNorm);
    norm(p + "ffn_norm.weight", c.hiddenSize, w.ffnNorm);
    hyper(p + "hc_attn_", w.hcAttn);
    hyper(p + "hc_ffn_", w.hcFfn);
    f32(p + "attn.attn_sink", {c.heads}, w.attnSink);
    fp8(p + "attn.wq_a", c.qLoraRank, c.hiddenSize, w.wqA);
    norm(p + "attn.q_norm.weight", c.qLoraRank, w.qNorm);
    fp8(p + "attn.wq_b", headsWidth, c.qLoraRank, w.wqB);
    fp8(p + "attn.wkv", c.headDim, c.hiddenSize, w.wkv);
    norm(p + "attn.kv_norm.weight", c.headDim, w.kvNorm);
    fp8(p + "attn.wo_a", c.oGroups * c.oLoraRank, headsWidth / c.oGroups, w.woA);
    fp8(p + "attn.wo_b", c.hiddenSize, c.oGroups * c.oLoraRank, w.woB);
    if (spec.owns(self)) compressor(p + "attn.compressor.", spec, c.headDim, w.compressor);
    if (spec.chooses(self)) {
      fp8(p + "attn.indexer.wq_b", c.indexHeads * c.indexHeadDim, c.qLoraRank, w.indexWqB);
      bf16(p + "attn.indexer.weights_proj.weight", c.indexHeads, c.hiddenSize, w.indexWeights);
    }
    if (spec.indexKeys == IndexKeys::kOwnCompressor)
      compressor(p + "attn.indexer.compressor.", spec, c.indexHeadDim, w.indexCompressor);
    if (spec.indexKeys == IndexKeys::kFromEntry) {
      bf16(p + "attn.indexer.wk.weight", c.indexHeadDim, c.headDim, w.indexWk);
      norm(p + "attn.indexer.k_norm.weight", c.indexHeadDim, w.indexKeyNorm);
    }
    if (spec.engram >= 0) engram(p + "engram.", w.engram);
    feedForward(p + "ffn.", spec, w);
  }

  void engram(const std::string& p, EngramWeights& w) {
    const auto& c = m_config;
    fp8(p + "wkv", (c.hcMult + 1) * c.hiddenSize, c.engram.columns() * c.engram.headDim, w.wkv);
    bf16Values(p + "q_weight", {c.hcMult, c.hiddenSize}, w.query);
    bf16Values(p + "k_weight", {c.hcMult, c.hiddenSize}, w.key);
  }

  void feedForward(const std::string& p, const LayerSpec& spec, LayerWeights& w) {
    const auto& c = m_config;
    // A pruned checkpoint may keep another number of experts in each layer; the gate's rows are the truth.
    const TensorInfo* gate = m_shards.find(p + "gate.weight");
    w.experts = gate != nullptr && gate->shape.size() == 2 ? static_cast<int>(gate->shape[0]) : c.routedExperts;
    if (w.experts < c.expertsPerToken || w.experts > (1 << 16)) {
      fail(Status(Code::kCheckpoint, "tensor_shape",
                  p + "gate.weight has " + std::to_string(w.experts) + " experts, but each token needs " +
                      std::to_string(c.expertsPerToken) + "."));
      return;
    }
    bf16(p + "gate.weight", w.experts, c.hiddenSize, w.gate);
    if (spec.router == RouterKind::kScore) {
      f32(p + "gate.bias", {w.experts}, w.gateBias);
      if (m_config.imageToken >= 0) f32(p + "gate.bias_vl", {w.experts}, w.gateImageBias);
    } else {
      hashTable(p + "gate.tid2eid", w);
    }
    fp8(p + "shared_experts.w1", c.moeIntermediate, c.hiddenSize, w.sharedW1);
    fp8(p + "shared_experts.w2", c.hiddenSize, c.moeIntermediate, w.sharedW2);
    fp8(p + "shared_experts.w3", c.moeIntermediate, c.hiddenSize, w.sharedW3);
  }

  void hyper(const std::string& p, HyperWeights& w) {
    const int m = m_config.hcMult;
    w.fn.out = (2 + m) * m;
    w.fn.in = m * m_config.hiddenSize;
    f32(p + "fn", {w.fn.out, w.fn.in}, w.fn.weight);
    f32(p + "base", {w.fn.out}, w.base);
    f32(p + "scale", {3}, w.scale);
  }

  void compressor(const std::string& p, const LayerSpec& spec, int width, CompressorWeights& w) {
    const int wide = spec.overlapFactor() * width;
    w.width = width;
    bf16(p + "wkv.weight", wide, m_config.hiddenSize, w.wkv);
    if (spec.pooled) bf16(p + "wgate.weight", wide, m_config.hiddenSize, w.wgate);
    if (spec.positionBias) f32(p + "ape", {spec.ratio, wide}, w.ape);
    norm(p + "norm.weight", width, w.norm);
  }

  void hashTable(const std::string& name, LayerWeights& w) {
    const std::size_t count = static_cast<std::size_t>(m_config.vocabSize) * m_config.expertsPerToken;
    const std::byte* bytes = want(name, Dtype::kI64, {m_config.vocabSize, m_config.expertsPerToken}, true);
    if (bytes == nullptr) return;
    w.hashTable.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t id = 0;
      std::memcpy(&id, bytes + i * sizeof id, sizeof id);
      if (id < 0 || id >= w.experts) {
        fail(Status(Code::kCheckpoint, "tensor_out_of_bounds",
                    name + " names expert " + std::to_string(id) + " for token " +
                        std::to_string(i / static_cast<std::size_t>(m_config.expertsPerToken)) +
                        ", but the layer has " + std::to_string(w.experts) +
                        ". The file is damaged; run `coli verify`."));
        return;
      }
      w.hashTable[i] = static_cast<std::int32_t>(id);
    }
  }

  void fp8(const std::string& name, int out, int in, Fp8Matrix& m) {
    m.out = out;
    m.in = in;
    m.block = m_plan.block;
    const int block = m.block;
    m.weight = reinterpret_cast<const std::uint8_t*>(want(name + ".weight", Dtype::kF8E4M3, {out, in}));
    m.scale = reinterpret_cast<const std::uint8_t*>(
        want(name + ".scale", Dtype::kF8E8M0, {(out + block - 1) / block, (in + block - 1) / block}));
  }

  void bf16(const std::string& name, int out, int in, Bf16Matrix& m) {
    m.out = out;
    m.in = in;
    m.weight = reinterpret_cast<const std::uint16_t*>(want(name, Dtype::kBf16, {out, in}));
  }

  void f32(const std::string& name, std::vector<int> shape, const float*& target) {
    target = reinterpret_cast<const float*>(want(name, Dtype::kF32, std::move(shape)));
  }

  void norm(const std::string& name, int size, std::vector<float>& target) { bf16Values(name, {size}, target); }

  void bf16Values(const std::string& name, const std::vector<int>& shape, std::vector<float>& target) {
    const auto* bits = reinterpret_cast<const std::uint16_t*>(want(name, Dtype::kBf16, shape, true));
    if (bits == nullptr) return;
    std::size_t count = 1;
    for (const int side : shape) count *= static_cast<std::size_t>(side);
    target.resize(count);
    for (std::size_t i = 0; i < count; ++i) target[i] = bf16ToFloat(bits[i]);
  }

  // Checks a tensor; notes it as wanted in the first walk, returns its bytes in the second. `converted`: the bytes are
  // copied in another form now and not looked at again.
  const std::byte* want(const std::string& name, Dtype dtype, std::vector<int> shape, bool converted = false) {
    if (!m_status.isOk()) return nullptr;
    const TensorInfo* tensor = m_shards.find(name);
    if (tensor == nullptr) {
      fail(Status(Code::kCheckpoint, "tensor_missing",
                  "The checkpoint lacks the tensor " + name +
                      ". Download it again or run `coli verify` to see what is wrong."));
      return nullptr;
    }
    const std::vector<std::uint64_t> expected(shape.begin(), shape.end());
    if (tensor->dtype != dtype) {
      fail(Status(Code::kCheckpoint, "tensor_dtype",
                  name + " is stored as " + std::string(dtypeName(tensor->dtype)) + ", but " +
                      std::string(dtypeName(dtype)) + " is needed."));
      return nullptr;
    }
    if (tensor->shape != expected) {
      fail(Status(Code::kCheckpoint, "tensor_shape",
                  name + " has the shape " + shapeText(tensor->shape) + ", but config.json asks for " +
                      shapeText(expected) + "."));
      return nullptr;
    }
    if (m_store == nullptr) {
      m_wants.push_back({tensor, m_tag, converted});
      return nullptr;
    }
    const std::byte* bytes = m_store->find(name);
    if (bytes == nullptr) fail(Status(Code::kInternal, "not_loaded", name + " was not loaded."));
    return bytes;
  }

  void fail(Status status) {
    if (m_status.isOk()) m_status = std::move(status);
  }

  const ModelConfig& m_config;
  const LayerPlan& m_plan;
  const ShardSet& m_shards;
  const DenseStore* m_store;
  MemoryTag m_tag = MemoryTag::kDense;
  std::vector<DenseStore::Want> m_wants;
  Status m_status;
};

}  // namespace

Result<std::vector<DenseStore::Want>> ModelWeights::wants(const ModelConfig& config, const LayerPlan& plan,
                                                          const ShardSet& shards) {
  Binder binder(config, plan, shards, nullptr);
  ModelWeights unused;
  COLIBRI_RETURN_IF_ERROR(binder.walk(unused));
  return binder.takeWants();
}

Result<ModelWeights> ModelWeights::bind(const ModelConfig& config, const LayerPlan& plan, const ShardSet& shards,
                                        const DenseStore& store) {
  Binder binder(config, plan, shards, &store);
  ModelWeights model;
  COLIBRI_RETURN_IF_ERROR(binder.walk(model));
  return model;
}

}  // namespace colibri
