#pragma once
// Pools runs of tokens into compressed entries (spec deepseek-v4 3.6), for attention and for the indexer alike.

#include "model/pass.h"
#include "model/rotary.h"
#include "model/state.h"

namespace colibri {

/// What is done to a finished entry after norm and rope.
enum class EntryGrid {
  kAttention,  ///< e4m3 grid in blocks of 64 on the channels without rope (`vendor`)
  kIndexer     ///< Hadamard rotation, then the e2m1 grid (`vendor`)
};

/// Feeds the pass's rows x [rows][D] to a compressor; finished entries go to entries[block][width].
void compress(const ModelContext& model, const RotaryTables& tables, const Pass& pass, const LayerSpec& spec,
              const CompressorWeights& weights, EntryGrid grid, const float* x, CompressorState& state, float* entries);

}  // namespace colibri
