// config.json of synthetic checkpoints, with the released keys of each family.
#include "base/json.h"
#include "checkpoint/synth_presets.h"

#include <vector>

namespace colibri {
namespace {

// Keys that both families have under the same names.
OrderedJson commonKeys(const ModelConfig& c) {
  return {{"attention_bias", false},
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
          {"moe_intermediate_size", c.moeIntermediate},
          {"n_routed_experts", c.routedExperts},
          {"n_shared_experts", c.sharedExperts},
          {"norm_topk_prob", true},
          {"num_attention_heads", c.heads},
          {"num_experts_per_tok", c.expertsPerToken},
          {"num_hidden_layers", c.layers},
          {"num_key_value_heads", 1},
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
          {"vocab_size", c.vocabSize},
          {"compress_rope_theta", c.compressRopeTheta}};
}

void addRatiosAndDrafter(const SynthPlan& plan, OrderedJson& json) {
  const ModelConfig& c = plan.config;
  std::vector<int> ratios = c.compressRatios;
  ratios.resize(ratios.size() + plan.draft.experts.size(), 0);  // draft stages are never compressed
  json["compress_ratios"] = ratios;
  if (c.dsparkBlock == 0) return;
  json["dspark_block_size"] = c.dsparkBlock;
  json["dspark_markov_rank"] = c.dsparkMarkovRank;
  json["dspark_noise_token_id"] = c.dsparkNoiseToken;
  json["dspark_target_layer_ids"] = c.dsparkTargetLayers;
}

OrderedJson ropeScaling(const ModelConfig& c, const char* typeKey) {
  return {{"beta_fast", c.betaFast},
          {"beta_slow", c.betaSlow},
          {"factor", c.ropeFactor},
          {"original_max_position_embeddings", c.originalContext},
          {typeKey, "yarn"}};
}

OrderedJson flatConfig(const SynthPlan& plan) {
  const ModelConfig& c = plan.config;
  OrderedJson json = {{"architectures", {"DeepseekV4ForCausalLM"}},
                      {"model_type", c.modelType},
                      {"torch_dtype", "bfloat16"},
                      {"bos_token_id", c.bosToken},
                      {"eos_token_id", c.eosToken},
                      {"expert_dtype", "fp4"},
                      {"num_hash_layers", c.hashLayers},
                      {"num_nextn_predict_layers", plan.draft.kind == DraftKind::kNone ? 0 : 1}};
  json.update(commonKeys(c));
  json["quantization_config"] = {{"activation_scheme", "dynamic"},
                                 {"fmt", "e4m3"},
                                 {"quant_method", "fp8"},
                                 {"scale_fmt", "ue8m0"},
                                 {"weight_block_size", {c.weightBlock, c.weightBlock}}};
  json["rope_scaling"] = ropeScaling(c, "type");
  addRatiosAndDrafter(plan, json);
  return json;
}

OrderedJson nestedConfig(const SynthPlan& plan) {
  const ModelConfig& c = plan.config;
  OrderedJson text = {{"model_type", "deepseek_v41_text"}};
  text.update(commonKeys(c));
  text["rope_scaling"] = ropeScaling(c, "rope_type");
  text["kv_source_layer_ids"] = c.kvSourceLayers;
  text["index_source_layer_ids"] = c.indexSourceLayers;
  text["candidate_source_layer_id"] = c.candidateSourceLayer;
  text["candidate_topk_blocks"] = c.candidateBlocks;
  text["candidate_block_size"] = c.candidateBlockSize;
  text["engram_layer_ids"] = c.engram.layers;
  text["engram_num_embeddings"] = c.engram.rows;
  text["engram_max_ngram_size"] = c.engram.maxNgram;
  text["engram_vocab_size"] = c.engram.primeStart;
  text["engram_n_heads"] = c.engram.heads;
  text["engram_head_dim"] = c.engram.headDim;
  text["engram_pad_token_id"] = c.engram.padToken;
  text["engram_compressed_vocab_size"] = c.engram.classes;
  text["num_nextn_predict_layers"] = c.dsparkStages;
  addRatiosAndDrafter(plan, text);
  if (c.dsparkStages > 0) {
    text["dspark_n_routed_experts"] = c.dsparkExperts;
    text["dspark_num_experts_per_tok"] = c.dsparkExpertsPerToken;
  }
  const VisionConfig& v = c.vision;
  const OrderedJson vision = {
      {"model_type", "deepseek_v41_vision"}, {"num_hidden_layers", v.layers},    {"hidden_size", v.width},
      {"num_attention_heads", v.heads},      {"intermediate_size", v.inner},     {"patch_size", v.patch},
      {"rope_theta", v.ropeTheta},           {"downsample_ratio", v.downsample}, {"max_image_tokens", v.maxImageTokens},
      {"min_pixels", v.minPixels},           {"max_wh_ratio", nullptr}};
  return {{"architectures", {"DeepseekV41ForCausalLM"}},
          {"model_type", c.modelType},
          {"dtype", "bfloat16"},
          {"bos_token_id", c.bosToken},
          {"eos_token_id", c.eosToken},
          {"pad_token_id", c.engram.padToken},
          {"image_token_id", c.imageToken},
          {"quantization_config",
           {{"quant_method", "fp8"},
            {"activation_scheme", "dynamic"},
            {"weight_block_size", {c.weightBlock, c.weightBlock}},
            {"scale_fmt", "ue8m0"},
            {"expert_dtype", "fp4"}}},
          {"text_config", text},
          {"vision_config", vision}};
}

}  // namespace

OrderedJson synthConfigJson(const SynthPlan& plan) {
  return plan.config.family == ModelFamily::kDeepSeekV41 ? nestedConfig(plan) : flatConfig(plan);
}

}  // namespace colibri
