#pragma once
// What a sequence leaves behind in each layer. Owned by a session; written by the blocks.

#include "base/buffer.h"
#include "checkpoint/model_config.h"
#include "model/cache_rows.h"
#include "model/journal.h"
#include "model/layer_plan.h"
#include <colibri/status.h>
#include <colibri/types.h>

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
  float* window = nullptr;         ///< ring [sliding_window][head_dim], slot = position mod sliding_window
  std::byte* entries = nullptr;    ///< [context / ratio] rows of CacheFormats::entry, where the layer makes them
  std::byte* indexKeys = nullptr;  ///< [context / ratio] rows of CacheFormats::indexKey, the same
  CompressorState compressor;
  CompressorState indexCompressor;
};

/// Tokens that the journal has room for: a draft of the releases and the token before it.
inline constexpr int kJournalTokens = 8;

/// State of one sequence over all layers, in one buffer. Entries of the compressed caches are addressed by block, so
/// going back to an earlier position only needs the rings and the compressors' rows (see Snapshot and Journal).
class SequenceState {
public:
  /// Bytes for `context` tokens.
  [[nodiscard]] static std::uint64_t bytes(const ModelConfig& config, const LayerPlan& plan, int context,
                                           Numerics numerics);
  /// An empty sequence for at most `context` tokens, charged as kKv.
  static Result<std::unique_ptr<SequenceState>> create(const ModelConfig& config, const LayerPlan& plan, int context,
                                                       Numerics numerics, std::shared_ptr<Ledger> ledger);

  [[nodiscard]] int position() const { return m_position; }  ///< tokens computed
  [[nodiscard]] int context() const { return m_context; }
  [[nodiscard]] const CacheFormats& formats() const { return m_formats; }
  [[nodiscard]] LayerState& layer(int index) { return m_layers[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const LayerState& layer(int index) const { return m_layers[static_cast<std::size_t>(index)]; }
  /// N-gram classes of the tokens so far and of those being computed; null for models without n-gram tables.
  [[nodiscard]] std::int32_t* classes() { return m_classes; }
  void advance(int tokens) { m_position += tokens; }
  /// Back to the empty sequence.
  void clear();

  /// Writes over earlier tokens' rows are recorded from here on, for at most kJournalTokens tokens.
  void beginJournal() { m_journal.begin(); }
  [[nodiscard]] Journal& journal() { return m_journal; }
  /// Takes back the tokens from `position` on that were computed since beginJournal(), finished or not. False when the
  /// journal cannot: more tokens than it has room for.
  bool rollBack(int position);

  /// While a prompt that ends at `end` is computed with only the outputs that its last token needs, the windows of the
  /// layers above the last source are whole only from there on; 0 when they are whole now.
  [[nodiscard]] int incompleteUntil() const { return m_incompleteUntil > m_position ? m_incompleteUntil : 0; }
  void setIncompleteUntil(int end) { m_incompleteUntil = end; }

  /// The part that later tokens overwrite, at one position.
  struct Snapshot {
    int position = -1;
    int incompleteUntil = 0;  ///< as SequenceState's
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
  CacheFormats m_formats;
  std::vector<LayerState> m_layers;
  std::int32_t* m_classes = nullptr;
  Journal m_journal;
  int m_incompleteUntil = 0;
  std::shared_ptr<Ledger> m_ledger;
  std::size_t m_volatileBytes = 0;  ///< the rings and compressor rows stand first in the buffer
  std::vector<std::pair<float*, std::size_t>> m_scores;
  int m_position = 0;
  int m_context = 0;
};

}  // namespace colibri
