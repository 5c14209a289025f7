#include "checkpoint/config_sections.h"

#include "base/json.h"

#include <algorithm>

namespace colibri {
namespace {

constexpr int kMaxRatio = 1024;
constexpr std::size_t kMaxEngramLayers = 16;
constexpr std::size_t kMaxTargetLayers = 64;

std::string layerText(int layer) {
  return "layer " + std::to_string(layer);
}

bool contains(const std::vector<int>& list, int layer) {
  return std::binary_search(list.begin(), list.end(), layer);
}

// The largest source up to `layer`, or -1.
int sourceUpTo(const std::vector<int>& sources, int layer) {
  const auto above = std::upper_bound(sources.begin(), sources.end(), layer);
  return above == sources.begin() ? -1 : *(above - 1);
}

Status readRatios(const ConfigScope& scope, ModelConfig& config) {
  const Json* list = scope.find("compress_ratios");
  if (list == nullptr) return ConfigScope::missing("compress_ratios", "");
  const bool v41 = config.family == ModelFamily::kDeepSeekV41;
  const auto layers = static_cast<std::size_t>(config.layers);
  const std::size_t all = layers + static_cast<std::size_t>(config.dsparkStages);
  if (!list->is_array() || list->size() < layers || (v41 && list->size() != all)) {
    return configInvalid("compress_ratios must be a list of " + std::string(v41 ? "" : "at least ") +
                         std::to_string(all) + " numbers, one a layer" +
                         (v41 ? " and one a stage of the drafter." : "."));
  }
  // V4: entries beyond the main stack belong to draft layers, whose count the tensors tell.
  for (std::size_t layer = 0; layer < all; ++layer) {
    const Json& value = (*list)[layer];
    const auto ratio = wholeNumber(value, 0, kMaxRatio);
    if (!ratio || (*ratio == 1 && !v41)) {
      return configInvalid("compress_ratios has " + shortText(value) + " for layer " + std::to_string(layer) +
                           "; 0 or a ratio from " + (v41 ? "1" : "2") + " to " + std::to_string(kMaxRatio) +
                           " is possible.");
    }
    if (layer < layers) {
      config.compressRatios.push_back(static_cast<int>(*ratio));
    } else if (*ratio != 0) {
      return configInvalid("compress_ratios has " + shortText(value) + " for stage " + std::to_string(layer - layers) +
                           " of the drafter; a stage reads its window only, so 0 is needed.");
    }
  }
  return Status::ok();
}

Status checkSources(const ModelConfig& config) {
  const auto ratio = [&](int layer) { return config.compressRatios[static_cast<std::size_t>(layer)]; };
  for (const int source : config.indexSourceLayers) {
    if (ratio(source) == 0) {
      return configInvalid("index_source_layer_ids has " + layerText(source) +
                           ", but compress_ratios gives it no compressed entries to choose from.");
    }
  }
  int last = -1;
  for (const int source : config.kvSourceLayers) {
    if (ratio(source) == 0) {
      return configInvalid("kv_source_layer_ids has " + layerText(source) +
                           ", but compress_ratios gives it no compressed entries to make.");
    }
    if (!contains(config.indexSourceLayers, source)) {
      return configInvalid(
          "kv_source_layer_ids has " + layerText(source) +
          ", which is not in index_source_layer_ids; it would choose from an earlier layer's entries.");
    }
    // The published index keys of a deeper layer stand in for an earlier one's until its next group is finished; they
    // must have a row for each of its entries.
    if (last >= 0 && ratio(source) > ratio(last)) {
      return configInvalid("compress_ratios rises from " + std::to_string(ratio(last)) + " in " + layerText(last) +
                           " to " + std::to_string(ratio(source)) + " in " + layerText(source) +
                           "; entries must not become fewer with depth.");
    }
    last = source;
  }
  for (int layer = 0; layer < config.layers; ++layer) {
    if (ratio(layer) == 0) continue;
    // Sources of entries choose as well, so an index source at or above this one's exists and has the same ratio.
    const int source = sourceUpTo(config.kvSourceLayers, layer);
    if (source < 0) {
      return configInvalid(layerText(layer) + " has ratio " + std::to_string(ratio(layer)) +
                           " in compress_ratios, but no layer up to it is in kv_source_layer_ids.");
    }
    if (ratio(source) != ratio(layer)) {
      return configInvalid(layerText(layer) + " has ratio " + std::to_string(ratio(layer)) + " but reads entries of " +
                           layerText(source) + ", whose ratio is " + std::to_string(ratio(source)) + ".");
    }
  }
  return Status::ok();
}

Status readCandidates(const ConfigScope& scope, ModelConfig& config) {
  const Json* value = nullptr;
  COLIBRI_RETURN_IF_ERROR(scope.lookUp("candidate_source_layer_id", "candidate_source_layer", value));
  if (value == nullptr) return Status::ok();
  const auto layer = wholeNumber(*value, -kMaxRatio, config.layers - 1);
  if (!layer) {
    return configInvalid(bothNames("candidate_source_layer_id", "candidate_source_layer") + " is " + shortText(*value) +
                         "; a layer up to " + std::to_string(config.layers - 1) + " or a negative number is possible.");
  }
  if (*layer < 0) return Status::ok();
  const int source = static_cast<int>(*layer);
  if (!contains(config.kvSourceLayers, source)) {
    return configInvalid("candidate_source_layer_id is " + std::to_string(source) +
                         ", which is in kv_source_layer_ids for no layer; the blocks are chosen from its own entries.");
  }
  for (const int above : config.kvSourceLayers) {
    if (above > source && config.compressRatios[static_cast<std::size_t>(above)] !=
                              config.compressRatios[static_cast<std::size_t>(source)]) {
      return configInvalid("kv_source_layer_ids has " + layerText(above) + " above the candidate source, " +
                           layerText(source) + ", with another ratio; the blocks would name other entries.");
    }
  }
  COLIBRI_RETURN_IF_ERROR(scope.readTable(kCandidateKeys, config));
  // A newest block that is not full may still leave a few less; then fewer entries are read.
  if (std::int64_t{config.candidateBlocks} * config.candidateBlockSize < config.indexTopK) {
    return configInvalid("candidate_topk_blocks x candidate_block_size (" + std::to_string(config.candidateBlocks) +
                         " x " + std::to_string(config.candidateBlockSize) + ") is fewer entries than index_topk (" +
                         std::to_string(config.indexTopK) + ").");
  }
  config.candidateSourceLayer = source;
  return Status::ok();
}

}  // namespace

Status readLayerSources(const ConfigScope& scope, ModelConfig& config) {
  COLIBRI_RETURN_IF_ERROR(readRatios(scope, config));
  if (config.family == ModelFamily::kDeepSeekV4) return Status::ok();
  COLIBRI_RETURN_IF_ERROR(
      scope.readLayers("kv_source_layer_ids", "kv_source_layers", config.layers, true, config.kvSourceLayers));
  COLIBRI_RETURN_IF_ERROR(
      scope.readLayers("index_source_layer_ids", "index_source_layers", config.layers, true, config.indexSourceLayers));
  COLIBRI_RETURN_IF_ERROR(checkSources(config));
  return readCandidates(scope, config);
}

Status readEngram(const ConfigScope& scope, ModelConfig& config) {
  if (config.family == ModelFamily::kDeepSeekV4) return Status::ok();
  EngramConfig& engram = config.engram;
  COLIBRI_RETURN_IF_ERROR(scope.readLayers("engram_layer_ids", "", config.layers, false, engram.layers));
  if (!engram.present()) return Status::ok();
  if (engram.layers.size() > kMaxEngramLayers) {
    return configInvalid("engram_layer_ids names " + std::to_string(engram.layers.size()) + " layers; at most " +
                         std::to_string(kMaxEngramLayers) + " are possible.");
  }
  COLIBRI_RETURN_IF_ERROR(scope.readTable(kEngramKeys, engram));
  COLIBRI_RETURN_IF_ERROR(scope.readTable(kEngramPrimeKeys, engram));
  bool there = false;
  COLIBRI_RETURN_IF_ERROR(scope.readList("engram_num_embeddings", "", 1, (std::int64_t{1} << 40) - 1, kMaxEngramLayers,
                                         engram.rows, there));
  if (!there) return ConfigScope::missing("engram_num_embeddings", "");
  if (engram.rows.size() != engram.layers.size()) {
    return configInvalid("engram_num_embeddings has " + std::to_string(engram.rows.size()) + " entries for the " +
                         std::to_string(engram.layers.size()) + " layers of engram_layer_ids.");
  }
  if (engram.headDim % 32 != 0) {
    return configInvalid("engram_head_dim is " + std::to_string(engram.headDim) +
                         ", which is no multiple of 32 (a row's scales are one for 32 values).");
  }
  for (const std::int64_t rows : engram.rows) {
    // A table is a part for each hash, as long as the hash's prime, and no prime is below the search's start.
    if (rows < engram.columns() * engram.primeStart) {
      return configInvalid("engram_num_embeddings has " + std::to_string(rows) + ", fewer rows than " +
                           std::to_string(engram.columns()) + " hashes from engram_vocab_size (" +
                           std::to_string(engram.primeStart) + ") on need.");
    }
  }
  const Json* classes = scope.find("engram_compressed_vocab_size");
  if (classes == nullptr) return ConfigScope::missing("engram_compressed_vocab_size", "");
  const auto count = wholeNumber(*classes, 1, config.vocabSize);
  if (!count) {
    return configInvalid("engram_compressed_vocab_size is " + shortText(*classes) +
                         "; 1 to vocab_size classes are possible.");
  }
  engram.classes = static_cast<int>(*count);
  const Json* pad = nullptr;
  COLIBRI_RETURN_IF_ERROR(scope.lookUp("engram_pad_token_id", "engram_pad_id", pad));
  if (pad == nullptr) return ConfigScope::missing("engram_pad_token_id", "engram_pad_id");
  return scope.readToken("engram_pad_token_id", "engram_pad_id", config.vocabSize, engram.padToken);
}

Status readDrafter(const ConfigScope& scope, ModelConfig& config) {
  const bool v41 = config.family == ModelFamily::kDeepSeekV41;
  if (v41) {
    COLIBRI_RETURN_IF_ERROR(scope.readTable(kStageKeys, config));
    if (config.dsparkStages == 0) {
      config.dsparkBlock = 0;
      return Status::ok();
    }
    COLIBRI_RETURN_IF_ERROR(scope.readTable(kDrafterKeys, config));
    if (config.dsparkExpertsPerToken > config.dsparkExperts) {
      return configInvalid("dspark_num_experts_per_tok is " + std::to_string(config.dsparkExpertsPerToken) +
                           ", more than the " + std::to_string(config.dsparkExperts) + " experts of a stage.");
    }
    if (scope.find("dspark_noise_token_id") == nullptr) return ConfigScope::missing("dspark_noise_token_id", "");
  }
  if (config.dsparkBlock == 0) return Status::ok();
  COLIBRI_RETURN_IF_ERROR(scope.readToken("dspark_noise_token_id", "", config.vocabSize, config.dsparkNoiseToken));
  std::vector<std::int64_t> layers;
  bool there = false;
  COLIBRI_RETURN_IF_ERROR(
      scope.readList("dspark_target_layer_ids", "", 0, config.layers - 1, kMaxTargetLayers, layers, there));
  if (v41 && layers.empty()) return ConfigScope::missing("dspark_target_layer_ids", "");
  for (const std::int64_t layer : layers) config.dsparkTargetLayers.push_back(static_cast<int>(layer));
  return Status::ok();
}

Status readVision(const ConfigScope& scope, ModelConfig& config) {
  if (config.family == ModelFamily::kDeepSeekV4) return Status::ok();
  COLIBRI_RETURN_IF_ERROR(scope.readToken("image_token_id", "", config.vocabSize, config.imageToken));
  VisionConfig& vision = config.vision;
  const Json* layers = nullptr;
  COLIBRI_RETURN_IF_ERROR(scope.lookUp("vision_config.num_hidden_layers", "vision_n_layers", layers));
  if (layers == nullptr) return Status::ok();
  const auto count = wholeNumber(*layers, 0, 1024);
  if (!count) {
    return configInvalid(bothNames("vision_config.num_hidden_layers", "vision_n_layers") + " is " + shortText(*layers) +
                         "; 0 to 1024 layers are possible.");
  }
  if (*count == 0) return Status::ok();
  vision.layers = static_cast<int>(*count);
  COLIBRI_RETURN_IF_ERROR(scope.readTable(kVisionKeys, vision));
  COLIBRI_RETURN_IF_ERROR(scope.readTable(kVisionPixelKeys, vision));
  COLIBRI_RETURN_IF_ERROR(scope.readTable(kVisionRealKeys, vision));
  // Half a head turns with the row, half with the column, each in pairs (spec deepseek-v41 6.2).
  if (vision.width % vision.heads != 0 || vision.width / vision.heads % 4 != 0) {
    return configInvalid("the image tower's hidden_size is " + std::to_string(vision.width) + " with " +
                         std::to_string(vision.heads) + " heads; a head's width must be a multiple of 4.");
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const std::int64_t cell = std::int64_t{vision.downsample} * vision.downsample * vision.width;
  if (cell > kMaxWidth * std::int64_t{8} || std::int64_t{vision.width} * vision.inner > kMost ||
      cell * config.hiddenSize > std::int64_t{1} << 36) {
    return configInvalid("vision_config describes matrices that are larger than any that can be loaded.");
  }
  return Status::ok();
}

}  // namespace colibri
