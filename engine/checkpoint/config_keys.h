#pragma once
// The tables of config.json's keys: both spellings, where they go, what is possible. Sources: the hub's config.json
// and the vendor's inference/config.json of DeepSeek V4 and V4.1.

#include "checkpoint/model_config.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace colibri {

enum class Presence {
  kRequired,     ///< in both spellings
  kHubRequired,  ///< the vendor's own file leaves it to its code's default, which is ModelConfig's
  kV4Required,   ///< V4 only; absent in V4.1
  kV41Required,  ///< V4.1 only; absent in V4
  kOptional,
};

struct KeyNames {
  std::string_view hub;     ///< may be a path of two keys ("rope_scaling.factor")
  std::string_view vendor;  ///< empty where the spelling is the same
  Presence presence;
};

/// A number and the member of `Target` that it fills.
template <class Target, class Number>
struct NumberKey {
  KeyNames names;
  Number Target::*member;
  Number least;
  Number most;
};

/// A key whose value the engine's formulas take for granted.
struct FixedKey {
  std::string_view hub;
  std::string_view vendor;
  std::string_view value;  ///< as JSON text
};

inline constexpr int kMaxWidth = 1 << 17;

using IntegerKey = NumberKey<ModelConfig, int>;
using RealKey = NumberKey<ModelConfig, double>;

inline constexpr std::array<IntegerKey, 23> kIntegerKeys = {{
    {{"vocab_size", "", Presence::kRequired}, &ModelConfig::vocabSize, 2, 1 << 22},
    {{"hidden_size", "dim", Presence::kRequired}, &ModelConfig::hiddenSize, 1, kMaxWidth},
    {{"num_hidden_layers", "n_layers", Presence::kRequired}, &ModelConfig::layers, 1, 1024},
    {{"num_attention_heads", "n_heads", Presence::kRequired}, &ModelConfig::heads, 1, 4096},
    {{"head_dim", "", Presence::kRequired}, &ModelConfig::headDim, 2, 1 << 14},
    {{"qk_rope_head_dim", "rope_head_dim", Presence::kRequired}, &ModelConfig::ropeDim, 2, 1 << 14},
    {{"q_lora_rank", "", Presence::kRequired}, &ModelConfig::qLoraRank, 1, kMaxWidth},
    {{"o_groups", "", Presence::kRequired}, &ModelConfig::oGroups, 1, 4096},
    {{"o_lora_rank", "", Presence::kRequired}, &ModelConfig::oLoraRank, 1, kMaxWidth},
    {{"sliding_window", "window_size", Presence::kRequired}, &ModelConfig::slidingWindow, 1, 1 << 20},
    {{"index_n_heads", "", Presence::kRequired}, &ModelConfig::indexHeads, 1, 4096},
    {{"index_head_dim", "", Presence::kRequired}, &ModelConfig::indexHeadDim, 1, 1 << 14},
    {{"index_topk", "", Presence::kRequired}, &ModelConfig::indexTopK, 1, 1 << 20},
    {{"n_routed_experts", "", Presence::kRequired}, &ModelConfig::routedExperts, 1, 1 << 14},
    {{"n_shared_experts", "", Presence::kHubRequired}, &ModelConfig::sharedExperts, 1, 1},
    {{"num_experts_per_tok", "n_activated_experts", Presence::kRequired}, &ModelConfig::expertsPerToken, 1, 256},
    {{"moe_intermediate_size", "moe_inter_dim", Presence::kRequired}, &ModelConfig::moeIntermediate, 1, kMaxWidth},
    {{"num_hash_layers", "n_hash_layers", Presence::kV4Required}, &ModelConfig::hashLayers, 0, 1024},
    {{"hc_mult", "", Presence::kHubRequired}, &ModelConfig::hcMult, 1, 16},
    {{"hc_sinkhorn_iters", "", Presence::kHubRequired}, &ModelConfig::hcSinkhornIters, 1, 1000},
    {{"rope_scaling.original_max_position_embeddings", "original_seq_len", Presence::kOptional},
     &ModelConfig::originalContext,
     1,
     1 << 30},
    {{"dspark_block_size", "", Presence::kOptional}, &ModelConfig::dsparkBlock, 0, 1024},
    {{"dspark_markov_rank", "", Presence::kOptional}, &ModelConfig::dsparkMarkovRank, 0, kMaxWidth},
}};

inline constexpr std::array<RealKey, 9> kRealKeys = {{
    {{"rope_theta", "", Presence::kHubRequired}, &ModelConfig::ropeTheta, 1, 1e12},
    {{"compress_rope_theta", "", Presence::kHubRequired}, &ModelConfig::compressRopeTheta, 1, 1e12},
    {{"rope_scaling.factor", "rope_factor", Presence::kOptional}, &ModelConfig::ropeFactor, 1, 1e6},
    {{"rope_scaling.beta_fast", "beta_fast", Presence::kOptional}, &ModelConfig::betaFast, 1e-6, 1e6},
    {{"rope_scaling.beta_slow", "beta_slow", Presence::kOptional}, &ModelConfig::betaSlow, 1e-6, 1e6},
    {{"routed_scaling_factor", "route_scale", Presence::kRequired}, &ModelConfig::routedScale, 1e-6, 1e6},
    {{"swiglu_limit", "", Presence::kHubRequired}, &ModelConfig::swigluLimit, 0, 1e6},
    {{"hc_eps", "", Presence::kHubRequired}, &ModelConfig::hcEps, 0, 0.1},
    {{"rms_norm_eps", "norm_eps", Presence::kHubRequired}, &ModelConfig::rmsEps, 0, 0.1},
}};

/// Of V4.1: choosing entries in two levels, read when there is a candidate source.
inline constexpr std::array<IntegerKey, 2> kCandidateKeys = {{
    {{"candidate_topk_blocks", "", Presence::kRequired}, &ModelConfig::candidateBlocks, 1, 1 << 24},
    {{"candidate_block_size", "", Presence::kRequired}, &ModelConfig::candidateBlockSize, 1, 1 << 16},
}};

/// Of V4.1: how many stages the drafter has.
inline constexpr std::array<IntegerKey, 1> kStageKeys = {{
    {{"num_nextn_predict_layers", "n_mtp_layers", Presence::kV41Required}, &ModelConfig::dsparkStages, 0, 16},
}};

/// Of V4.1: read when the drafter has stages.
inline constexpr std::array<IntegerKey, 4> kDrafterKeys = {{
    {{"dspark_block_size", "", Presence::kRequired}, &ModelConfig::dsparkBlock, 1, 1024},
    {{"dspark_markov_rank", "", Presence::kRequired}, &ModelConfig::dsparkMarkovRank, 1, kMaxWidth},
    {{"dspark_n_routed_experts", "", Presence::kRequired}, &ModelConfig::dsparkExperts, 1, 1 << 14},
    {{"dspark_num_experts_per_tok", "dspark_n_activated_experts", Presence::kRequired},
     &ModelConfig::dsparkExpertsPerToken,
     1,
     256},
}};

/// Read when engram_layer_ids names a layer. The search for primes is by trial division, so its start is bounded.
inline constexpr std::array<NumberKey<EngramConfig, int>, 3> kEngramKeys = {{
    {{"engram_max_ngram_size", "", Presence::kRequired}, &EngramConfig::maxNgram, 2, 8},
    {{"engram_n_heads", "", Presence::kRequired}, &EngramConfig::heads, 1, 64},
    {{"engram_head_dim", "", Presence::kRequired}, &EngramConfig::headDim, 32, 1 << 14},
}};
inline constexpr std::array<NumberKey<EngramConfig, std::int64_t>, 1> kEngramPrimeKeys = {{
    {{"engram_vocab_size", "", Presence::kRequired}, &EngramConfig::primeStart, 2, std::int64_t{1} << 32},
}};

/// Read when there is a tower (vision_config.num_hidden_layers, vision_n_layers).
inline constexpr std::array<NumberKey<VisionConfig, int>, 6> kVisionKeys = {{
    {{"vision_config.hidden_size", "vision_dim", Presence::kRequired}, &VisionConfig::width, 1, 1 << 14},
    {{"vision_config.num_attention_heads", "vision_n_heads", Presence::kRequired}, &VisionConfig::heads, 1, 1024},
    {{"vision_config.intermediate_size", "vision_inter_dim", Presence::kRequired}, &VisionConfig::inner, 1, 1 << 16},
    {{"vision_config.patch_size", "vision_patch_size", Presence::kRequired}, &VisionConfig::patch, 1, 256},
    {{"vision_config.downsample_ratio", "vision_downsample_ratio", Presence::kRequired},
     &VisionConfig::downsample,
     1,
     16},
    // Four is the smallest span: start, one row with its newline, end.
    {{"vision_config.max_image_tokens", "vision_max_n_token", Presence::kRequired},
     &VisionConfig::maxImageTokens,
     4,
     1 << 16},
}};
inline constexpr std::array<NumberKey<VisionConfig, std::int64_t>, 1> kVisionPixelKeys = {{
    {{"vision_config.min_pixels", "vision_min_pixels", Presence::kRequired},
     &VisionConfig::minPixels,
     1,
     std::int64_t{1} << 31},
}};
inline constexpr std::array<NumberKey<VisionConfig, double>, 2> kVisionRealKeys = {{
    {{"vision_config.rope_theta", "vision_rope_theta", Presence::kHubRequired}, &VisionConfig::ropeTheta, 1, 1e12},
    {{"vision_config.max_wh_ratio", "vision_max_wh_ratio", Presence::kOptional},
     &VisionConfig::maxWidthHeightRatio,
     1,
     1e6},
}};

inline constexpr std::array<FixedKey, 14> kFixedKeys = {{
    {"num_key_value_heads", "", "1"},
    {"hidden_act", "", "\"silu\""},
    {"scoring_func", "score_func", "\"sqrtsoftplus\""},
    {"topk_method", "", "\"noaux_tc\""},
    {"norm_topk_prob", "", "true"},
    {"tie_word_embeddings", "", "false"},
    {"attention_bias", "", "false"},
    {"rope_scaling.type", "", "\"yarn\""},
    {"rope_scaling.rope_type", "", "\"yarn\""},
    {"quantization_config.quant_method", "", "\"fp8\""},
    {"quantization_config.scale_fmt", "scale_fmt", "\"ue8m0\""},
    {"quantization_config.expert_dtype", "", "\"fp4\""},
    {"expert_dtype", "", "\"fp4\""},
    {"gate_temp", "", "1.0"},
}};

}  // namespace colibri
