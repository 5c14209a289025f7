#pragma once
// Geometries of synthetic checkpoints and the files beside the shards.

#include "base/json_fwd.h"
#include "checkpoint/expected_tensors.h"
#include "checkpoint/model_config.h"
#include <colibri/checkpoint.h>

#include <string>
#include <string_view>

namespace colibri {

struct SynthPlan {
  ModelConfig config;
  DraftVariant draft;
  bool sparse = false;  ///< data are holes: real geometry without the bytes
};

/// The preset with the overrides; kUsage when something does not fit.
Result<SynthPlan> planSynth(const SynthOptions& options);

/// config.json with the released keys.
[[nodiscard]] OrderedJson synthConfigJson(const SynthPlan& plan);
/// A byte-level tokenizer.json of exactly `vocabSize` tokens: specials, bytes, the chat format's tokens, placeholders.
[[nodiscard]] OrderedJson synthTokenizerJson(int vocabSize);
inline constexpr std::string_view kSynthSystemToken = "<｜System｜>";
inline constexpr std::string_view kSynthImageToken = "<｜deepseek_image｜>";
/// Id of a chat token in it; 0 for any other text.
[[nodiscard]] int synthTokenId(std::string_view chatToken, int vocabSize);

}  // namespace colibri
