#include "checkpoint/expected_tensors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace colibri {
namespace {

// How a row of the table is stored. Quantised rows are two tensors: NAME.weight and NAME.scale.
enum class Form {
  kBf16,
  kF32,
  kI64,
  kFp8,      // e4m3 [o, i] and one e8m0 scale per block (ModelConfig::weightBlock squared)
  kFp8Rows,  // e4m3 [o, i] and one e8m0 scale per row and 32 columns
  kFp4,      // two e2m1 a byte [o, i/2] and one e8m0 scale per row and 32 inputs
};

// Sizes by name. Symbols in brackets as in ModelConfig.
enum class Dim {
  kNone,
  kOne,
  kThree,
  kVocab,          // [V]
  kHidden,         // [D]
  kHeads,          // [H]
  kHeadDim,        // [dh]
  kAllHeads,       // H dh
  kQueryRank,      // [Rq]
  kGroupOut,       // G Ro
  kGroupIn,        // H dh / G
  kInner,          // [I]
  kExperts,        // [E] of the block
  kTopK,           // [K]
  kStreams,        // [m]
  kMix,            // (2 + m) m
  kStreamsHidden,  // m D
  kRatio,          // r
  kCompressed,     // c dh, c = 2 where groups overlap (V4, r = 4)
  kIndexQuery,     // HI dI
  kIndexHeads,     // [HI]
  kIndexDim,       // [dI]
  kIndexPair,      // 2 dI
  kTargets,        // D for each main layer that the drafter reads
  kMarkov,         // rank of the Markov head
  kHiddenMarkov,   // D + rank
  kTableRows,      // of the layer's n-gram table
  kTableDim,       // values a table row
  kTableInputs,    // values of all rows that a token reads
  kTableOutputs,   // (m + 1) D: a key for each stream, and the value
  kTower,          // width of the image tower
  kTowerThrice,
  kTowerInner,
  kTowerInnerPair,
  kPatch,      // values of a patch, 3 p p
  kTowerCell,  // values of the patches that become one row
};

enum class Where {
  kGlobal,
  kHeadMix,          // where the streams are combined by a hyper-connection of the head's own
  kImageMarks,       // V4.1
  kBlock,            // every layer and draft stage
  kHashRouter,       // layers below num_hash_layers
  kScoreRouter,      // all other layers and draft stages
  kImageRouter,      // V4.1: the same
  kCompressor,       // layers that make compressed entries
  kPooled,           // of these, where an entry is pooled from several tokens
  kPositionBias,     // of these, where places in the group have a bias
  kChooser,          // layers that choose entries
  kIndexCompressor,  // V4: of these, index keys made by a compressor of their own
  kIndexFromEntry,   // V4.1: layers that make entries, index keys made from those
  kEngram,
  kMtp,
  kDsparkFirst,
  kDsparkLast,
  kMarkovV4,  // the same tensors under two names
  kMarkovV41,
  kVision,
  kVisionBlock,
};

struct Row {
  Where where;
  std::string_view name;
  Form form;
  Dim rows;
  Dim columns = Dim::kNone;
};

constexpr std::array kTable = {
    Row{Where::kGlobal, "embed.weight", Form::kBf16, Dim::kVocab, Dim::kHidden},
    Row{Where::kGlobal, "head.weight", Form::kBf16, Dim::kVocab, Dim::kHidden},
    Row{Where::kGlobal, "norm.weight", Form::kBf16, Dim::kHidden},
    Row{Where::kHeadMix, "hc_head_fn", Form::kF32, Dim::kStreams, Dim::kStreamsHidden},
    Row{Where::kHeadMix, "hc_head_base", Form::kF32, Dim::kStreams},
    Row{Where::kHeadMix, "hc_head_scale", Form::kF32, Dim::kOne},
    Row{Where::kImageMarks, "image_start", Form::kBf16, Dim::kHidden},
    Row{Where::kImageMarks, "image_end", Form::kBf16, Dim::kHidden},
    Row{Where::kImageMarks, "image_newline", Form::kBf16, Dim::kHidden},

    Row{Where::kBlock, "attn_norm.weight", Form::kBf16, Dim::kHidden},
    Row{Where::kBlock, "ffn_norm.weight", Form::kBf16, Dim::kHidden},
    Row{Where::kBlock, "hc_attn_fn", Form::kF32, Dim::kMix, Dim::kStreamsHidden},
    Row{Where::kBlock, "hc_ffn_fn", Form::kF32, Dim::kMix, Dim::kStreamsHidden},
    Row{Where::kBlock, "hc_attn_base", Form::kF32, Dim::kMix},
    Row{Where::kBlock, "hc_ffn_base", Form::kF32, Dim::kMix},
    Row{Where::kBlock, "hc_attn_scale", Form::kF32, Dim::kThree},
    Row{Where::kBlock, "hc_ffn_scale", Form::kF32, Dim::kThree},
    Row{Where::kBlock, "attn.attn_sink", Form::kF32, Dim::kHeads},
    Row{Where::kBlock, "attn.wq_a", Form::kFp8, Dim::kQueryRank, Dim::kHidden},
    Row{Where::kBlock, "attn.q_norm.weight", Form::kBf16, Dim::kQueryRank},
    Row{Where::kBlock, "attn.wq_b", Form::kFp8, Dim::kAllHeads, Dim::kQueryRank},
    Row{Where::kBlock, "attn.wkv", Form::kFp8, Dim::kHeadDim, Dim::kHidden},
    Row{Where::kBlock, "attn.kv_norm.weight", Form::kBf16, Dim::kHeadDim},
    Row{Where::kBlock, "attn.wo_a", Form::kFp8, Dim::kGroupOut, Dim::kGroupIn},
    Row{Where::kBlock, "attn.wo_b", Form::kFp8, Dim::kHidden, Dim::kGroupOut},
    Row{Where::kBlock, "ffn.gate.weight", Form::kBf16, Dim::kExperts, Dim::kHidden},
    Row{Where::kBlock, "ffn.shared_experts.w1", Form::kFp8, Dim::kInner, Dim::kHidden},
    Row{Where::kBlock, "ffn.shared_experts.w2", Form::kFp8, Dim::kHidden, Dim::kInner},
    Row{Where::kBlock, "ffn.shared_experts.w3", Form::kFp8, Dim::kInner, Dim::kHidden},
    Row{Where::kHashRouter, "ffn.gate.tid2eid", Form::kI64, Dim::kVocab, Dim::kTopK},
    Row{Where::kScoreRouter, "ffn.gate.bias", Form::kF32, Dim::kExperts},
    Row{Where::kImageRouter, "ffn.gate.bias_vl", Form::kF32, Dim::kExperts},

    Row{Where::kCompressor, "attn.compressor.wkv.weight", Form::kBf16, Dim::kCompressed, Dim::kHidden},
    Row{Where::kPooled, "attn.compressor.wgate.weight", Form::kBf16, Dim::kCompressed, Dim::kHidden},
    Row{Where::kPositionBias, "attn.compressor.ape", Form::kF32, Dim::kRatio, Dim::kCompressed},
    Row{Where::kCompressor, "attn.compressor.norm.weight", Form::kBf16, Dim::kHeadDim},

    Row{Where::kChooser, "attn.indexer.wq_b", Form::kFp8, Dim::kIndexQuery, Dim::kQueryRank},
    Row{Where::kChooser, "attn.indexer.weights_proj.weight", Form::kBf16, Dim::kIndexHeads, Dim::kHidden},
    Row{Where::kIndexCompressor, "attn.indexer.compressor.wkv.weight", Form::kBf16, Dim::kIndexPair, Dim::kHidden},
    Row{Where::kIndexCompressor, "attn.indexer.compressor.wgate.weight", Form::kBf16, Dim::kIndexPair, Dim::kHidden},
    Row{Where::kIndexCompressor, "attn.indexer.compressor.ape", Form::kF32, Dim::kRatio, Dim::kIndexPair},
    Row{Where::kIndexCompressor, "attn.indexer.compressor.norm.weight", Form::kBf16, Dim::kIndexDim},
    Row{Where::kIndexFromEntry, "attn.indexer.wk.weight", Form::kBf16, Dim::kIndexDim, Dim::kHeadDim},
    Row{Where::kIndexFromEntry, "attn.indexer.k_norm.weight", Form::kBf16, Dim::kIndexDim},

    Row{Where::kEngram, "engram.embed", Form::kFp8Rows, Dim::kTableRows, Dim::kTableDim},
    Row{Where::kEngram, "engram.wkv", Form::kFp8, Dim::kTableOutputs, Dim::kTableInputs},
    Row{Where::kEngram, "engram.q_weight", Form::kBf16, Dim::kStreams, Dim::kHidden},
    Row{Where::kEngram, "engram.k_weight", Form::kBf16, Dim::kStreams, Dim::kHidden},

    Row{Where::kMtp, "e_proj", Form::kFp8, Dim::kHidden, Dim::kHidden},
    Row{Where::kMtp, "h_proj", Form::kFp8, Dim::kHidden, Dim::kHidden},
    Row{Where::kMtp, "enorm.weight", Form::kBf16, Dim::kHidden},
    Row{Where::kMtp, "hnorm.weight", Form::kBf16, Dim::kHidden},
    Row{Where::kMtp, "norm.weight", Form::kBf16, Dim::kHidden},
    Row{Where::kMtp, "hc_head_fn", Form::kF32, Dim::kStreams, Dim::kStreamsHidden},
    Row{Where::kMtp, "hc_head_base", Form::kF32, Dim::kStreams},
    Row{Where::kMtp, "hc_head_scale", Form::kF32, Dim::kOne},

    Row{Where::kDsparkFirst, "main_proj", Form::kFp8, Dim::kHidden, Dim::kTargets},
    Row{Where::kDsparkFirst, "main_norm.weight", Form::kBf16, Dim::kHidden},
    Row{Where::kDsparkLast, "norm.weight", Form::kBf16, Dim::kHidden},
    Row{Where::kDsparkLast, "confidence_head.proj.weight", Form::kBf16, Dim::kOne, Dim::kHiddenMarkov},
    Row{Where::kMarkovV4, "markov_head.markov_w1.weight", Form::kBf16, Dim::kVocab, Dim::kMarkov},
    Row{Where::kMarkovV4, "markov_head.markov_w2.weight", Form::kBf16, Dim::kVocab, Dim::kMarkov},
    Row{Where::kMarkovV41, "markov_head.embed.weight", Form::kBf16, Dim::kVocab, Dim::kMarkov},
    Row{Where::kMarkovV41, "markov_head.head.weight", Form::kBf16, Dim::kVocab, Dim::kMarkov},

    Row{Where::kVision, "vision.patch_embed.proj.weight", Form::kBf16, Dim::kTower, Dim::kPatch},
    Row{Where::kVision, "vision.patch_embed.proj.bias", Form::kBf16, Dim::kTower},
    Row{Where::kVision, "vision.norm.weight", Form::kBf16, Dim::kTower},
    Row{Where::kVision, "aligner.w1.weight", Form::kBf16, Dim::kHidden, Dim::kTowerCell},
    Row{Where::kVision, "aligner.w1.bias", Form::kBf16, Dim::kHidden},
    Row{Where::kVision, "aligner.w2.weight", Form::kBf16, Dim::kHidden, Dim::kHidden},
    Row{Where::kVision, "aligner.w2.bias", Form::kBf16, Dim::kHidden},
    Row{Where::kVisionBlock, "norm1.weight", Form::kBf16, Dim::kTower},
    Row{Where::kVisionBlock, "norm2.weight", Form::kBf16, Dim::kTower},
    Row{Where::kVisionBlock, "attn.wqkv.weight", Form::kBf16, Dim::kTowerThrice, Dim::kTower},
    Row{Where::kVisionBlock, "attn.wqkv.bias", Form::kBf16, Dim::kTowerThrice},
    Row{Where::kVisionBlock, "attn.wo.weight", Form::kBf16, Dim::kTower, Dim::kTower},
    Row{Where::kVisionBlock, "attn.wo.bias", Form::kBf16, Dim::kTower},
    Row{Where::kVisionBlock, "mlp.w1.weight", Form::kBf16, Dim::kTowerInnerPair, Dim::kTower},
    Row{Where::kVisionBlock, "mlp.w2.weight", Form::kBf16, Dim::kTower, Dim::kTowerInner},
};

struct Matrix {
  std::string_view name;
  Dim rows;
  Dim columns;
};

// In the order of ExpertPart, weight and scale of each.
constexpr std::array<Matrix, 3> kExpertMatrices = {{
    {"w1", Dim::kInner, Dim::kHidden},
    {"w2", Dim::kHidden, Dim::kInner},
    {"w3", Dim::kInner, Dim::kHidden},
}};

// One block's sizes; `config` outlives it.
struct Sizes {
  const ModelConfig& config;
  const DraftVariant& draft;
  int ratio = 0;
  int experts = 0;
  bool overlap = false;        // an entry also pools the group before it
  std::int64_t tableRows = 0;  // of the layer's n-gram table

  [[nodiscard]] std::uint64_t of(Dim dim) const {
    const ModelConfig& c = config;
    const auto product = [](std::int64_t a, std::int64_t b) { return static_cast<std::uint64_t>(a * b); };
    switch (dim) {
      case Dim::kNone:
        return 0;
      case Dim::kOne:
        return 1;
      case Dim::kThree:
        return 3;
      case Dim::kVocab:
        return product(c.vocabSize, 1);
      case Dim::kHidden:
        return product(c.hiddenSize, 1);
      case Dim::kHeads:
        return product(c.heads, 1);
      case Dim::kHeadDim:
        return product(c.headDim, 1);
      case Dim::kAllHeads:
        return product(c.heads, c.headDim);
      case Dim::kQueryRank:
        return product(c.qLoraRank, 1);
      case Dim::kGroupOut:
        return product(c.oGroups, c.oLoraRank);
      case Dim::kGroupIn:
        return product(c.heads, c.headDim) / static_cast<std::uint64_t>(c.oGroups);
      case Dim::kInner:
        return product(c.moeIntermediate, 1);
      case Dim::kExperts:
        return product(experts, 1);
      case Dim::kTopK:
        return product(c.expertsPerToken, 1);
      case Dim::kStreams:
        return product(c.hcMult, 1);
      case Dim::kMix:
        return product(2 + c.hcMult, c.hcMult);
      case Dim::kStreamsHidden:
        return product(c.hcMult, c.hiddenSize);
      case Dim::kRatio:
        return product(ratio, 1);
      case Dim::kCompressed:
        return product(overlap ? 2 : 1, c.headDim);
      case Dim::kIndexQuery:
        return product(c.indexHeads, c.indexHeadDim);
      case Dim::kIndexHeads:
        return product(c.indexHeads, 1);
      case Dim::kIndexDim:
        return product(c.indexHeadDim, 1);
      case Dim::kIndexPair:
        return product(2, c.indexHeadDim);
      case Dim::kTargets:
        return product(draft.targetLayers, c.hiddenSize);
      case Dim::kMarkov:
        return product(draft.markovRank, 1);
      case Dim::kHiddenMarkov:
        return product(c.hiddenSize + draft.markovRank, 1);
      case Dim::kTableRows:
        return product(tableRows, 1);
      case Dim::kTableDim:
        return product(c.engram.headDim, 1);
      case Dim::kTableInputs:
        return product(c.engram.columns(), c.engram.headDim);
      case Dim::kTableOutputs:
        return product(c.hcMult + 1, c.hiddenSize);
      case Dim::kTower:
        return product(c.vision.width, 1);
      case Dim::kTowerThrice:
        return product(3, c.vision.width);
      case Dim::kTowerInner:
        return product(c.vision.inner, 1);
      case Dim::kTowerInnerPair:
        return product(2, c.vision.inner);
      case Dim::kPatch:
        return 3 * product(c.vision.patch, c.vision.patch);
      case Dim::kTowerCell:
        return product(c.vision.downsample, c.vision.downsample) * static_cast<std::uint64_t>(c.vision.width);
    }
    return 0;
  }
};

std::uint64_t ceilDivide(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

class Lister {
public:
  Lister(const ModelConfig& config, const DraftVariant& draft, const std::function<void(const ExpectedTensor&)>& use)
      : m_sizes{config, draft}, m_use(use) {}

  void rows(Where where, const std::string& prefix) const {
    for (const Row& row : kTable) {
      if (row.where == where)
        one(prefix + std::string(row.name), row.form, m_sizes.of(row.rows), m_sizes.of(row.columns));
    }
  }

  void layer(int index, int experts) {
    const ModelConfig& c = m_sizes.config;
    const bool v4 = c.family == ModelFamily::kDeepSeekV4;
    const auto contains = [&](const std::vector<int>& list) {
      return std::find(list.begin(), list.end(), index) != list.end();
    };
    const std::string prefix = "layers." + std::to_string(index) + ".";
    m_sizes.ratio = c.compressRatios[static_cast<std::size_t>(index)];
    m_sizes.overlap = v4 && m_sizes.ratio == 4;
    const bool source = v4 ? m_sizes.ratio != 0 : contains(c.kvSourceLayers);
    block(prefix, experts, index < c.hashLayers);
    if (source) {
      rows(Where::kCompressor, prefix);
      if (m_sizes.ratio > 1) rows(Where::kPooled, prefix);
      rows(v4 ? Where::kPositionBias : Where::kIndexFromEntry, prefix);
    }
    if (v4 ? m_sizes.overlap : contains(c.indexSourceLayers)) rows(Where::kChooser, prefix);
    if (m_sizes.overlap) rows(Where::kIndexCompressor, prefix);
    for (std::size_t table = 0; table < c.engram.layers.size(); ++table) {
      if (c.engram.layers[table] != index) continue;
      m_sizes.tableRows = c.engram.rows[table];
      rows(Where::kEngram, prefix);
    }
  }

  void stage(std::size_t index, const DraftVariant& draft) {
    const std::string prefix = "mtp." + std::to_string(index) + ".";
    const bool v4 = m_sizes.config.family == ModelFamily::kDeepSeekV4;
    const bool dspark = draft.kind == DraftKind::kDspark;
    m_sizes.ratio = 0;
    m_sizes.overlap = false;
    block(prefix, draft.experts[index], false);
    if (draft.kind == DraftKind::kMtp) rows(Where::kMtp, prefix);
    if (dspark && index == 0) rows(Where::kDsparkFirst, prefix);
    if (!dspark || index + 1 != draft.experts.size()) return;
    rows(Where::kDsparkLast, prefix);
    rows(v4 ? Where::kMarkovV4 : Where::kMarkovV41, prefix);
    if (v4) rows(Where::kHeadMix, prefix);
  }

private:
  void block(const std::string& prefix, int experts, bool hashed) {
    m_sizes.experts = experts;
    rows(Where::kBlock, prefix);
    rows(hashed ? Where::kHashRouter : Where::kScoreRouter, prefix);
    if (m_sizes.config.family == ModelFamily::kDeepSeekV41) rows(Where::kImageRouter, prefix);
    for (int expert = 0; expert < experts; ++expert) {
      const std::string stem = prefix + "ffn.experts." + std::to_string(expert) + ".";
      for (const Matrix& matrix : kExpertMatrices) {
        one(stem + std::string(matrix.name), Form::kFp4, m_sizes.of(matrix.rows), m_sizes.of(matrix.columns));
      }
    }
  }

  void one(const std::string& name, Form form, std::uint64_t rowCount, std::uint64_t columns) const {
    if (form == Form::kFp8) {
      const auto side = static_cast<std::uint64_t>(m_sizes.config.weightBlock);
      m_use({name + ".weight", Dtype::kF8E4M3, {rowCount, columns}});
      m_use({name + ".scale", Dtype::kF8E8M0, {ceilDivide(rowCount, side), ceilDivide(columns, side)}});
    } else if (form == Form::kFp8Rows) {
      m_use({name + ".weight", Dtype::kF8E4M3, {rowCount, columns}});
      m_use({name + ".scale", Dtype::kF8E8M0, {rowCount, columns / 32}});
    } else if (form == Form::kFp4) {
      m_use({name + ".weight", Dtype::kI8, {rowCount, columns / 2}});
      m_use({name + ".scale", Dtype::kF8E8M0, {rowCount, columns / 32}});
    } else {
      const Dtype dtype = form == Form::kBf16 ? Dtype::kBf16 : form == Form::kF32 ? Dtype::kF32 : Dtype::kI64;
      m_use({name, dtype,
             columns == 0 ? std::vector<std::uint64_t>{rowCount} : std::vector<std::uint64_t>{rowCount, columns}});
    }
  }

  Sizes m_sizes;
  const std::function<void(const ExpectedTensor&)>& m_use;
};

}  // namespace

void forEachExpected(const ModelConfig& config, const std::vector<int>& counts, const DraftVariant& draft,
                     const std::function<void(const ExpectedTensor&)>& use) {
  Lister lister(config, draft, use);
  lister.rows(Where::kGlobal, "");
  if (config.family == ModelFamily::kDeepSeekV4) lister.rows(Where::kHeadMix, "");
  if (config.vision.present()) lister.rows(Where::kImageMarks, "");
  for (int layer = 0; layer < config.layers; ++layer) lister.layer(layer, counts[static_cast<std::size_t>(layer)]);
  for (std::size_t stage = 0; stage < draft.experts.size(); ++stage) lister.stage(stage, draft);
  if (!config.vision.present()) return;
  lister.rows(Where::kVision, "");
  for (int block = 0; block < config.vision.layers; ++block)
    lister.rows(Where::kVisionBlock, "vision.blocks." + std::to_string(block) + ".");
}

std::string expertTensorName(int layer, int expert, ExpertPart part) {
  const auto index = static_cast<std::size_t>(part);
  return "layers." + std::to_string(layer) + ".ffn.experts." + std::to_string(expert) + "." +
         std::string(kExpertMatrices[index / 2].name) + (index % 2 == 0 ? ".weight" : ".scale");
}

ExpectedTensor expectedExpertPart(const ModelConfig& config, std::string name, ExpertPart part) {
  const auto index = static_cast<std::size_t>(part);
  const DraftVariant none;
  const Sizes sizes{config, none};
  const std::uint64_t rows = sizes.of(kExpertMatrices[index / 2].rows);
  const std::uint64_t columns = sizes.of(kExpertMatrices[index / 2].columns);
  if (index % 2 == 0) return {std::move(name), Dtype::kI8, {rows, columns / 2}};
  return {std::move(name), Dtype::kF8E8M0, {rows, columns / 32}};
}

}  // namespace colibri
