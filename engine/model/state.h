#pragma once
// What a sequence leaves behind in each layer. Owned by a session; written by the blocks.

#include "base/buffer.h"
#include "checkpoint/model_config.h"
#include "model/layer_plan.h"
#include <colibri/status.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace colibri {

/// Unfinished rows of one compressor (spec deepseek-v4 4.1): values and biased scores, [rows][width factor * width].
struct CompressorState {
  float* values = nullptr;
  float* scores = nullptr;
  int rows = 0;
  int width = 0;  ///< floats a row
};

/// One layer's state. Pointers into SequenceState's buffer.
struct LayerState {
  float* window = nullptr;      ///< ring [sliding_window][head_dim], slot = position mod sliding_window
  float* compressed = nullptr;  ///< [context / ratio][head_dim]
  float* indexKeys = nullptr;   ///< [context / ratio][index_head_dim]
  CompressorState compressor;
  CompressorState indexCompressor;
};

/// State of one sequence over all layers, in one buffer. Entries of the compressed caches are addressed by block, so
/// going back to an earlier position only needs the rings and the compressors' rows (see Snapshot).
class SequenceState {
public:
  /// Bytes for `context` tokens.
  [[nodiscard]] static std::uint64_t bytes(const ModelConfig& config, const LayerPlan& plan, int context);
  /// An empty sequence for at most `context` tokens, charged as kKv.
  static Result<std::unique_ptr<SequenceState>> create(const ModelConfig& config, const LayerPlan& plan, int context,
                                                       std::shared_ptr<Ledger> ledger);

  [[nodiscard]] int position() const { return m_position; }  ///< tokens computed
  [[nodiscard]] int context() const { return m_context; }
  [[nodiscard]] LayerState& layer(int index) { return m_layers[static_cast<std::size_t>(index)]; }
  void advance(int tokens) { m_position += tokens; }
  /// Back to the empty sequence.
  void clear();

  /// The part that later tokens overwrite, at one position.
  struct Snapshot {
    int position = -1;
    Buffer volatileRows;
  };
  /// Bytes of one snapshot.
  [[nodiscard]] static std::uint64_t snapshotBytes(const ModelConfig& config, const LayerPlan& plan);
  /// A copy, charged as kKv; kMemory when there is no room for it.
  [[nodiscard]] Result<Snapshot> snapshot() const;
  /// Goes back to `snapshot`, taken from this object at an earlier or equal position of the same tokens.
  void restore(const Snapshot& snapshot);

private:
  SequenceState() = default;

  Buffer m_buffer;
  std::vector<LayerState> m_layers;
  std::shared_ptr<Ledger> m_ledger;
  std::size_t m_volatileFloats = 0;  ///< the rings and compressor rows stand first in the buffer
  std::vector<std::pair<float*, std::size_t>> m_scores;
  int m_position = 0;
  int m_context = 0;
};

}  // namespace colibri
