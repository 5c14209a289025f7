#pragma once
// The parts of config.json that only V4.1 has: shared sources of entries, engram tables, the drafter's stages, vision.

#include "checkpoint/config_scope.h"

namespace colibri {

/// compress_ratios, and for V4.1 which layers own compressed entries, choose from them and choose candidates. Refuses
/// every plan in which a layer would read entries or index keys that nobody makes (spec deepseek-v41 1.4, 3.4, 3.8).
Status readLayerSources(const ConfigScope& scope, ModelConfig& config);
/// Engram tables; leaves `config.engram` empty when no layer has one.
Status readEngram(const ConfigScope& scope, ModelConfig& config);
/// The draft head's stages and what they read. V4's has no count of its own: the tensors tell.
Status readDrafter(const ConfigScope& scope, ModelConfig& config);
/// Image tower and the token that stands for an image.
Status readVision(const ConfigScope& scope, ModelConfig& config);

}  // namespace colibri
