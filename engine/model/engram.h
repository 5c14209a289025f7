#pragma once
// N-gram tables in the forward pass: which rows, and how they enter the residual streams (spec deepseek-v41 3.9).

#include "model/pass.h"
#include "model/state.h"
#include <colibri/status.h>

#include <cstdint>
#include <span>

namespace colibri {

/// Classes of the tokens behind state's position go into state.classes() and the table rows of each into
/// work.engramIds; their reads begin, as far as the store has room. `images` as in Pass.
void findEngramRows(const ModelContext& model, std::span<const TokenId> tokens, std::span<const float* const> images,
                    SequenceState& state);
/// The rows of `token`, which is computed next behind the state's position: their reads begin.
void announceEngram(const ModelContext& model, TokenId token, SequenceState& state);
/// Layer `layer`'s table for a pass: streams [rows][m][D] in place; the reads of the next pass begin. `state` is that
/// of findEngramRows(). kIo, kCheckpoint for damaged rows, kCancelled.
Status mixEngram(const ModelContext& model, const Pass& pass, int layer, SequenceState& state, float* streams);

}  // namespace colibri
