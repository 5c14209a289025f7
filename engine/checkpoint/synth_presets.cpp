#include "checkpoint/synth_presets.h"

#include "base/json.h"

#include <algorithm>

namespace colibri {
namespace {

// DeepSeek V4 Flash.
ModelConfig flash() {
  ModelConfig c;
  c.modelType = "deepseek_v4";
  c.vocabSize = 129280;
  c.hiddenSize = 4096;
  c.layers = 43;
  c.heads = 64;
  c.headDim = 512;
  c.ropeDim = 64;
  c.qLoraRank = 1024;
  c.oGroups = 8;
  c.oLoraRank = 1024;
  c.slidingWindow = 128;
  c.ropeFactor = 16;
  c.originalContext = 65536;
  c.maxPositions = 1048576;
  c.indexHeads = 64;
  c.indexHeadDim = 128;
  c.indexTopK = 512;
  c.routedExperts = 256;
  c.expertsPerToken = 6;
  c.moeIntermediate = 2048;
  c.hashLayers = 3;
  c.routedScale = 1.5;
  c.swigluLimit = 10;
  return c;
}

// True sizes within a layer, few layers and experts.
ModelConfig wide() {
  ModelConfig c = flash();
  c.vocabSize = 4096;
  c.layers = 6;
  c.routedExperts = 48;
  return c;
}

// Every kind of layer at a few megabytes; short prompts already leave the trivial ranges.
ModelConfig tiny() {
  ModelConfig c = flash();
  c.vocabSize = 512;
  c.hiddenSize = 256;
  c.layers = 6;
  c.heads = 4;
  c.headDim = 192;
  c.qLoraRank = 128;
  c.oGroups = 2;
  c.oLoraRank = 128;
  c.slidingWindow = 8;
  c.indexHeads = 2;
  c.indexTopK = 2;
  c.routedExperts = 8;
  c.expertsPerToken = 2;
  c.moeIntermediate = 128;
  c.hashLayers = 1;
  return c;
}

struct Preset {
  const char* name;
  const char* description;
  ModelConfig (*config)();
  const char* draft;
  int markovRank;
  bool sparse;
};

constexpr Preset kPresets[] = {
    {"v4-tiny", "Every kind of layer in 12 MB; for tests.", tiny, "dspark", 32, false},
    {"v4-wide", "True V4 Flash layers, 6 of them with 48 experts, 4.8 GB; for benchmarks.", wide, "none", 256, false},
    {"v4-real-sparse", "V4 Flash's whole geometry without data: 159.6 GB of apparent size, a few MB of disk.", flash,
     "mtp", 256, true},
    {"v4-0731-real-sparse", "The same for the release with the three-stage drafter: 166.9 GB of apparent size.", flash,
     "dspark", 256, true},
};

Status usage(std::string id, std::string message) {
  return {Code::kUsage, std::move(id), std::move(message)};
}

}  // namespace

std::vector<SynthPreset> synthPresets() {
  std::vector<SynthPreset> presets;
  for (const Preset& preset : kPresets) presets.push_back({preset.name, preset.description});
  return presets;
}

Result<SynthPlan> planSynth(const SynthOptions& options) {
  const auto* preset = std::find_if(std::begin(kPresets), std::end(kPresets),
                                    [&](const Preset& candidate) { return options.preset == candidate.name; });
  if (preset == std::end(kPresets)) {
    std::string names;
    for (const Preset& candidate : kPresets) names += (names.empty() ? "" : ", ") + std::string(candidate.name);
    return usage("unknown_preset", "There is no preset \"" + options.preset + "\"; there are " + names + ".");
  }
  SynthPlan plan;
  plan.sparse = preset->sparse;
  ModelConfig& c = plan.config;
  c = preset->config();
  c.layers = options.layers.value_or(c.layers);
  c.routedExperts = options.experts.value_or(c.routedExperts);
  const std::string draft = options.draft.value_or(preset->draft);
  if (c.layers < 1) return usage("bad_option", "A model needs at least one layer.");
  c.hashLayers = std::min(c.hashLayers, c.layers);
  for (int layer = 0; layer < c.layers; ++layer) c.compressRatios.push_back(layer < 2 ? 0 : layer % 2 == 0 ? 4 : 128);
  if (draft == "mtp") {
    plan.draft = {DraftKind::kMtp, {c.routedExperts}, 0, 0};
  } else if (draft == "dspark") {
    if (c.layers < 3) return usage("bad_option", "The dspark drafter reads the last three layers; there are fewer.");
    c.dsparkBlock = 5;
    c.dsparkMarkovRank = preset->markovRank;
    c.dsparkNoiseToken = c.vocabSize == 129280 ? 128799 : c.vocabSize - 1;
    c.dsparkTargetLayers = {c.layers - 3, c.layers - 2, c.layers - 1};
    plan.draft = {DraftKind::kDspark, std::vector<int>(3, c.routedExperts), preset->markovRank, 3};
  } else if (draft != "none") {
    return usage("bad_option", "There is no drafter \"" + draft + "\"; there are none, mtp and dspark.");
  }
  // What is written must be what the reader accepts.
  const auto checked = ModelConfig::fromJson(Json::parse(synthConfigJson(plan).dump()));
  if (!checked) return usage("bad_option", checked.status().message());
  return plan;
}

OrderedJson synthConfigJson(const SynthPlan& plan) {
  const ModelConfig& c = plan.config;
  OrderedJson json = {{"architectures", {"DeepseekV4ForCausalLM"}},
                      {"attention_bias", false},
                      {"bos_token_id", c.bosToken},
                      {"eos_token_id", c.eosToken},
                      {"expert_dtype", "fp4"},
                      {"hc_eps", c.hcEps},
                      {"hc_mult", c.hcMult},
                      {"hc_sinkhorn_iters", c.hcSinkhornIters},
                      {"head_dim", c.headDim},
                      {"hidden_act", "silu"},
                      {"hidden_size", c.hiddenSize},
                      {"index_head_dim", c.indexHeadDim},
                      {"index_n_heads", c.indexHeads},
                      {"index_topk", c.indexTopK},
                      {"max_position_embeddings", c.maxPositions},
                      {"model_type", c.modelType},
                      {"moe_intermediate_size", c.moeIntermediate},
                      {"n_routed_experts", c.routedExperts},
                      {"n_shared_experts", c.sharedExperts},
                      {"norm_topk_prob", true},
                      {"num_attention_heads", c.heads},
                      {"num_experts_per_tok", c.expertsPerToken},
                      {"num_hidden_layers", c.layers},
                      {"num_hash_layers", c.hashLayers},
                      {"num_key_value_heads", 1},
                      {"num_nextn_predict_layers", plan.draft.kind == DraftKind::kNone ? 0 : 1},
                      {"o_groups", c.oGroups},
                      {"o_lora_rank", c.oLoraRank},
                      {"q_lora_rank", c.qLoraRank},
                      {"qk_rope_head_dim", c.ropeDim},
                      {"rms_norm_eps", c.rmsEps},
                      {"rope_theta", c.ropeTheta},
                      {"routed_scaling_factor", c.routedScale},
                      {"scoring_func", "sqrtsoftplus"},
                      {"sliding_window", c.slidingWindow},
                      {"swiglu_limit", c.swigluLimit},
                      {"tie_word_embeddings", false},
                      {"topk_method", "noaux_tc"},
                      {"torch_dtype", "bfloat16"},
                      {"vocab_size", c.vocabSize},
                      {"compress_rope_theta", c.compressRopeTheta}};
  json["quantization_config"] = {{"activation_scheme", "dynamic"},
                                 {"fmt", "e4m3"},
                                 {"quant_method", "fp8"},
                                 {"scale_fmt", "ue8m0"},
                                 {"weight_block_size", {128, 128}}};
  json["rope_scaling"] = {{"beta_fast", c.betaFast},
                          {"beta_slow", c.betaSlow},
                          {"factor", c.ropeFactor},
                          {"original_max_position_embeddings", c.originalContext},
                          {"type", "yarn"}};
  std::vector<int> ratios = c.compressRatios;
  ratios.resize(ratios.size() + plan.draft.experts.size(), 0);  // draft stages are never compressed
  json["compress_ratios"] = ratios;
  if (c.dsparkBlock > 0) {
    json["dspark_block_size"] = c.dsparkBlock;
    json["dspark_markov_rank"] = c.dsparkMarkovRank;
    json["dspark_noise_token_id"] = c.dsparkNoiseToken;
    json["dspark_target_layer_ids"] = c.dsparkTargetLayers;
  }
  return json;
}

}  // namespace colibri
