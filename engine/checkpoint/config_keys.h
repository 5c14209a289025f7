#pragma once
// The one table of config.json's keys: both spellings, where they go, what is possible. Sources: the hub's config.json
// and the vendor's inference/config.json of DeepSeek V4 and V4.1.

#include "checkpoint/model_config.h"

#include <array>
#include <string_view>

namespace colibri {

enum class Presence {
  kRequired,     ///< in both spellings
  kHubRequired,  ///< the vendor's own file leaves it to its code's default, which is ModelConfig's
  kV4Required,   ///< V4 only; absent in V4.1
  kOptional,
};

/// `hub` may be a path of two keys ("rope_scaling.factor"). `vendor` is empty where the spelling is the same.
struct IntegerKey {
  std::string_view hub;
  std::string_view vendor;
  int ModelConfig::*member;
  int least;
  int most;
  Presence presence;
};

struct RealKey {
  std::string_view hub;
  std::string_view vendor;
  double ModelConfig::*member;
  double least;
  double most;
  Presence presence;
};

/// A key whose value the engine's formulas take for granted.
struct FixedKey {
  std::string_view hub;
  std::string_view vendor;
  std::string_view value;  ///< as JSON text
};

inline constexpr int kMaxWidth = 1 << 17;

inline constexpr std::array<IntegerKey, 23> kIntegerKeys = {{
    {"vocab_size", "", &ModelConfig::vocabSize, 2, 1 << 22, Presence::kRequired},
    {"hidden_size", "dim", &ModelConfig::hiddenSize, 1, kMaxWidth, Presence::kRequired},
    {"num_hidden_layers", "n_layers", &ModelConfig::layers, 1, 1024, Presence::kRequired},
    {"num_attention_heads", "n_heads", &ModelConfig::heads, 1, 4096, Presence::kRequired},
    {"head_dim", "", &ModelConfig::headDim, 2, 1 << 14, Presence::kRequired},
    {"qk_rope_head_dim", "rope_head_dim", &ModelConfig::ropeDim, 2, 1 << 14, Presence::kRequired},
    {"q_lora_rank", "", &ModelConfig::qLoraRank, 1, kMaxWidth, Presence::kRequired},
    {"o_groups", "", &ModelConfig::oGroups, 1, 4096, Presence::kRequired},
    {"o_lora_rank", "", &ModelConfig::oLoraRank, 1, kMaxWidth, Presence::kRequired},
    {"sliding_window", "window_size", &ModelConfig::slidingWindow, 1, 1 << 20, Presence::kRequired},
    {"index_n_heads", "", &ModelConfig::indexHeads, 1, 4096, Presence::kRequired},
    {"index_head_dim", "", &ModelConfig::indexHeadDim, 1, 1 << 14, Presence::kRequired},
    {"index_topk", "", &ModelConfig::indexTopK, 1, 1 << 20, Presence::kRequired},
    {"n_routed_experts", "", &ModelConfig::routedExperts, 1, 1 << 14, Presence::kRequired},
    {"n_shared_experts", "", &ModelConfig::sharedExperts, 1, 1, Presence::kHubRequired},
    {"num_experts_per_tok", "n_activated_experts", &ModelConfig::expertsPerToken, 1, 256, Presence::kRequired},
    {"moe_intermediate_size", "moe_inter_dim", &ModelConfig::moeIntermediate, 1, kMaxWidth, Presence::kRequired},
    {"num_hash_layers", "n_hash_layers", &ModelConfig::hashLayers, 0, 1024, Presence::kV4Required},
    {"hc_mult", "", &ModelConfig::hcMult, 1, 16, Presence::kHubRequired},
    {"hc_sinkhorn_iters", "", &ModelConfig::hcSinkhornIters, 1, 1000, Presence::kHubRequired},
    {"rope_scaling.original_max_position_embeddings", "original_seq_len", &ModelConfig::originalContext, 1, 1 << 30,
     Presence::kOptional},
    {"dspark_block_size", "", &ModelConfig::dsparkBlock, 0, 1024, Presence::kOptional},
    {"dspark_markov_rank", "", &ModelConfig::dsparkMarkovRank, 0, kMaxWidth, Presence::kOptional},
}};

inline constexpr std::array<RealKey, 9> kRealKeys = {{
    {"rope_theta", "", &ModelConfig::ropeTheta, 1, 1e12, Presence::kHubRequired},
    {"compress_rope_theta", "", &ModelConfig::compressRopeTheta, 1, 1e12, Presence::kHubRequired},
    {"rope_scaling.factor", "rope_factor", &ModelConfig::ropeFactor, 1, 1e6, Presence::kOptional},
    {"rope_scaling.beta_fast", "beta_fast", &ModelConfig::betaFast, 1e-6, 1e6, Presence::kOptional},
    {"rope_scaling.beta_slow", "beta_slow", &ModelConfig::betaSlow, 1e-6, 1e6, Presence::kOptional},
    {"routed_scaling_factor", "route_scale", &ModelConfig::routedScale, 1e-6, 1e6, Presence::kRequired},
    {"swiglu_limit", "", &ModelConfig::swigluLimit, 0, 1e6, Presence::kHubRequired},
    {"hc_eps", "", &ModelConfig::hcEps, 0, 0.1, Presence::kHubRequired},
    {"rms_norm_eps", "norm_eps", &ModelConfig::rmsEps, 0, 0.1, Presence::kHubRequired},
}};

inline constexpr std::array<FixedKey, 11> kFixedKeys = {{
    {"num_key_value_heads", "", "1"},
    {"hidden_act", "", "\"silu\""},
    {"scoring_func", "score_func", "\"sqrtsoftplus\""},
    {"norm_topk_prob", "", "true"},
    {"tie_word_embeddings", "", "false"},
    {"attention_bias", "", "false"},
    {"rope_scaling.type", "", "\"yarn\""},
    {"rope_scaling.rope_type", "", "\"yarn\""},
    {"quantization_config.quant_method", "", "\"fp8\""},
    {"quantization_config.scale_fmt", "scale_fmt", "\"ue8m0\""},
    {"gate_temp", "", "1.0"},
}};

}  // namespace colibri
