#pragma once
// The model as data: what each layer is. The blocks read properties from here and never ask for a model's name.

#include "checkpoint/model_config.h"

#include <vector>

namespace colibri {

enum class RouterKind { kHash, kScore };

/// Rotary tables of a layer: plain base, or the base and YaRN ramp of compressed layers (spec deepseek-v4 3.0,
/// deepseek-v41 3.5).
enum class RopeKind { kPlain, kCompressed };

/// Grid that keys and values take in the `vendor` profile.
enum class KvGrid {
  kHeadE4m3,  ///< channels without rope, e4m3 in blocks of 64 (V4: window and entries)
  kFullE4m3,  ///< all channels, e4m3 in blocks of 32 (V4.1: window)
  kFullE2m1   ///< all channels, e2m1 in groups of 16 with e4m3 scales (V4.1: entries)
};

/// What a layer's compressor makes of a finished group besides the entry.
enum class IndexKeys {
  kNone,
  kOwnCompressor,  ///< a second compressor of index_head_dim, rotated by Hadamard (V4)
  kFromEntry       ///< a projection of the entry before its rotation (V4.1)
};

/// A layer's part in choosing entries in two levels (spec deepseek-v41 3.8).
enum class CandidateRole { kNone, kChooses, kRestricted };

struct LayerSpec {
  int ratio = 0;              ///< tokens per compressed entry; 0: window only
  bool overlap = false;       ///< a compressed entry also pools the block before it
  bool pooled = false;        ///< entries are softmax-pooled over their tokens; else a token is an entry (ratio 1)
  bool positionBias = false;  ///< pooling scores have a learned bias by place in the group (ape)
  int kvSource = -1;          ///< layer whose compressed entries this layer reads: itself, or an earlier one; -1: none
  int indexSource = -1;       ///< layer whose choice of entries this layer uses; -1: it reads all that are visible
  IndexKeys indexKeys = IndexKeys::kNone;  ///< kept beside this layer's own entries
  CandidateRole candidates = CandidateRole::kNone;
  int engram = -1;  ///< index of the table read before this layer; -1: none
  RouterKind router = RouterKind::kScore;
  RopeKind rope = RopeKind::kPlain;

  /// Whether layer `self` (this one) makes compressed entries.
  [[nodiscard]] bool owns(int self) const { return kvSource == self; }
  /// Whether layer `self` (this one) chooses entries.
  [[nodiscard]] bool chooses(int self) const { return indexSource == self; }
  /// Width factor of the compressor's projections: each token feeds two entries where they overlap.
  [[nodiscard]] int overlapFactor() const { return overlap ? 2 : 1; }
  /// Rows of compressor state kept between calls.
  [[nodiscard]] int compressorRows() const { return pooled ? overlapFactor() * ratio : 0; }
};

struct LayerPlan {
  std::vector<LayerSpec> layers;
  int block = 128;  ///< activations in front of fp8 and fp4 linears are quantised in blocks of this many
  KvGrid windowGrid = KvGrid::kHeadE4m3;
  KvGrid entryGrid = KvGrid::kHeadE4m3;
  bool headNorm = false;       ///< each query head is normed
  bool indexHadamard = false;  ///< index queries and keys are rotated by Hadamard
  bool laggedMix = false;      ///< a hyper-connection's pre mix is used by the next sublayer, the last one by the head
  /// The last layer that makes compressed entries; -1: none. Layers above keep nothing but their windows.
  int lastSource = -1;

  /// Pure function of the config.
  static LayerPlan make(const ModelConfig& config);

  /// The layer whose index keys are in force for index source `layer` at `position` when tokens come one at a time
  /// under the vendor's rule: the last one, in order of position and layer, that finished an entry (spec
  /// deepseek-v41 4.3); -1 when none has yet. Plans without shared sources always give the layer itself.
  [[nodiscard]] int publisher(int layer, int position) const;
  /// First position from which tokens computed one at a time may differ from the same tokens of a prompt, because
  /// publisher() names another layer while there are more than `topK` entries to choose from; INT_MAX: never.
  [[nodiscard]] int firstDivergence(int topK) const;
  /// Positions before and including the last token whose output of `layer` the last token's logits and all later tokens
  /// need; 0 when all positions are needed (spec deepseek-v41 4.5).
  [[nodiscard]] int outputReach(int layer, int slidingWindow) const;
};

}  // namespace colibri
