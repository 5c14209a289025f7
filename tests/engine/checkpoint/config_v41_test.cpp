// V4.1's config.json: the release's own, the vendor's flat names, and every plan of layers that cannot be.
#include "base/json.h"
#include "checkpoint/model_config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace colibri::testing {
namespace {

// The release's values (spec deepseek-v41 1.1 to 1.3).
Json released() {
  Json ratios = Json::array();
  for (int layer = 0; layer < 43; ++layer) ratios.push_back(layer < 2 ? 0 : layer < 20 ? 2 : layer < 40 ? 1 : 0);
  const Json text = {{"model_type", "deepseek_v41_text"},
                     {"vocab_size", 129280},
                     {"hidden_size", 5120},
                     {"moe_intermediate_size", 2304},
                     {"num_hidden_layers", 40},
                     {"num_attention_heads", 64},
                     {"num_key_value_heads", 1},
                     {"head_dim", 512},
                     {"qk_rope_head_dim", 64},
                     {"q_lora_rank", 1280},
                     {"o_lora_rank", 1024},
                     {"o_groups", 8},
                     {"hidden_act", "silu"},
                     {"swiglu_limit", 10.0},
                     {"rms_norm_eps", 1e-20},
                     {"attention_bias", false},
                     {"use_cache", true},
                     {"tie_word_embeddings", false},
                     {"max_position_embeddings", 1048576},
                     {"rope_theta", 10000},
                     {"rope_scaling",
                      {{"rope_type", "yarn"},
                       {"factor", 16},
                       {"beta_fast", 32},
                       {"beta_slow", 1},
                       {"original_max_position_embeddings", 65536}}},
                     {"n_routed_experts", 384},
                     {"n_shared_experts", 1},
                     {"num_experts_per_tok", 6},
                     {"scoring_func", "sqrtsoftplus"},
                     {"topk_method", "noaux_tc"},
                     {"norm_topk_prob", true},
                     {"routed_scaling_factor", 1.5},
                     {"sliding_window", 128},
                     {"compress_ratios", ratios},
                     {"compress_rope_theta", 160000},
                     {"kv_source_layer_ids", {2, 8, 14, 20}},
                     {"index_source_layer_ids", {2, 8, 14, 20, 24, 28, 32, 36}},
                     {"index_n_heads", 32},
                     {"index_head_dim", 128},
                     {"index_topk", 512},
                     {"candidate_source_layer_id", 20},
                     {"candidate_topk_blocks", 2048},
                     {"candidate_block_size", 8},
                     {"hc_mult", 4},
                     {"hc_sinkhorn_iters", 20},
                     {"hc_eps", 1e-6},
                     {"engram_layer_ids", {1, 14}},
                     {"engram_num_embeddings", {384006168, 384016682}},
                     {"engram_max_ngram_size", 4},
                     {"engram_vocab_size", 16000000},
                     {"engram_n_heads", 8},
                     {"engram_head_dim", 256},
                     {"engram_pad_token_id", 2},
                     {"engram_compressed_vocab_size", 99092},
                     {"num_nextn_predict_layers", 3},
                     {"dspark_block_size", 5},
                     {"dspark_noise_token_id", 128799},
                     {"dspark_target_layer_ids", {37, 38, 39}},
                     {"dspark_markov_rank", 256},
                     {"dspark_n_routed_experts", 128},
                     {"dspark_num_experts_per_tok", 3}};
  const Json vision = {{"model_type", "deepseek_v41_vision"},
                       {"num_hidden_layers", 32},
                       {"hidden_size", 1024},
                       {"num_attention_heads", 16},
                       {"intermediate_size", 2816},
                       {"patch_size", 14},
                       {"rope_theta", 10000},
                       {"downsample_ratio", 3},
                       {"max_image_tokens", 1024},
                       {"min_pixels", 295936},
                       {"max_wh_ratio", nullptr}};
  return {{"architectures", {"DeepseekV41ForCausalLM"}},
          {"model_type", "deepseek_v41"},
          {"dtype", "bfloat16"},
          {"bos_token_id", 0},
          {"eos_token_id", 1},
          {"pad_token_id", 2},
          {"image_token_id", 129264},
          {"quantization_config",
           {{"quant_method", "fp8"},
            {"activation_scheme", "dynamic"},
            {"weight_block_size", {32, 32}},
            {"scale_fmt", "ue8m0"},
            {"expert_dtype", "fp4"}}},
          {"text_config", text},
          {"vision_config", vision}};
}

// The same in the vendor's flat names.
Json flat() {
  const Json hub = released();
  Json json = hub.at("text_config");
  for (const auto& [from, to] :
       std::vector<std::pair<const char*, const char*>>{{"hidden_size", "dim"},
                                                        {"moe_intermediate_size", "moe_inter_dim"},
                                                        {"num_hidden_layers", "n_layers"},
                                                        {"num_attention_heads", "n_heads"},
                                                        {"qk_rope_head_dim", "rope_head_dim"},
                                                        {"rms_norm_eps", "norm_eps"},
                                                        {"sliding_window", "window_size"},
                                                        {"kv_source_layer_ids", "kv_source_layers"},
                                                        {"index_source_layer_ids", "index_source_layers"},
                                                        {"candidate_source_layer_id", "candidate_source_layer"},
                                                        {"num_experts_per_tok", "n_activated_experts"},
                                                        {"scoring_func", "score_func"},
                                                        {"routed_scaling_factor", "route_scale"},
                                                        {"engram_pad_token_id", "engram_pad_id"},
                                                        {"num_nextn_predict_layers", "n_mtp_layers"},
                                                        {"dspark_num_experts_per_tok", "dspark_n_activated_experts"}}) {
    json[to] = json.at(from);
    json.erase(from);
  }
  json["rope_factor"] = json["rope_scaling"]["factor"];
  json["beta_fast"] = json["rope_scaling"]["beta_fast"];
  json["beta_slow"] = json["rope_scaling"]["beta_slow"];
  json["original_seq_len"] = json["rope_scaling"]["original_max_position_embeddings"];
  for (const char* key : {"rope_scaling", "model_type", "max_position_embeddings", "num_key_value_heads", "hidden_act",
                          "attention_bias", "use_cache", "tie_word_embeddings", "topk_method"}) {
    json.erase(key);
  }
  for (const auto& [from, to] :
       std::vector<std::pair<const char*, const char*>>{{"num_hidden_layers", "vision_n_layers"},
                                                        {"hidden_size", "vision_dim"},
                                                        {"num_attention_heads", "vision_n_heads"},
                                                        {"intermediate_size", "vision_inter_dim"},
                                                        {"patch_size", "vision_patch_size"},
                                                        {"rope_theta", "vision_rope_theta"},
                                                        {"downsample_ratio", "vision_downsample_ratio"},
                                                        {"max_image_tokens", "vision_max_n_token"},
                                                        {"min_pixels", "vision_min_pixels"}}) {
    json[to] = hub.at("vision_config").at(from);
  }
  json["image_token_id"] = 129264;
  json["gate_temp"] = 1.0;
  return json;
}

void expectReleased(const ModelConfig& c) {
  EXPECT_EQ(c.family, ModelFamily::kDeepSeekV41);
  EXPECT_EQ(c.modelType, "deepseek_v41");
  EXPECT_EQ(c.vocabSize, 129280);
  EXPECT_EQ(c.hiddenSize, 5120);
  EXPECT_EQ(c.moeIntermediate, 2304);
  EXPECT_EQ(c.layers, 40);
  EXPECT_EQ(c.heads, 64);
  EXPECT_EQ(c.headDim, 512);
  EXPECT_EQ(c.ropeDim, 64);
  EXPECT_EQ(c.qLoraRank, 1280);
  EXPECT_EQ(c.weightBlock, 32);
  EXPECT_EQ(c.compressRatios.size(), 40U);
  EXPECT_EQ(c.compressRatios[19], 2);
  EXPECT_EQ(c.compressRatios[20], 1);
  EXPECT_EQ(c.kvSourceLayers, (std::vector<int>{2, 8, 14, 20}));
  EXPECT_EQ(c.indexSourceLayers, (std::vector<int>{2, 8, 14, 20, 24, 28, 32, 36}));
  EXPECT_EQ(c.candidateSourceLayer, 20);
  EXPECT_EQ(c.candidateBlocks, 2048);
  EXPECT_EQ(c.candidateBlockSize, 8);
  EXPECT_EQ(c.maxPositions, 1048576);
  EXPECT_EQ(c.originalContext, 65536);
  EXPECT_DOUBLE_EQ(c.ropeFactor, 16);
  EXPECT_DOUBLE_EQ(c.rmsEps, 1e-20);
  EXPECT_DOUBLE_EQ(c.routedScale, 1.5);
  EXPECT_EQ(c.hashLayers, 0);
  EXPECT_EQ(c.engram.layers, (std::vector<int>{1, 14}));
  EXPECT_EQ(c.engram.rows, (std::vector<std::int64_t>{384006168, 384016682}));
  EXPECT_EQ(c.engram.columns(), 24);
  EXPECT_EQ(c.engram.headDim, 256);
  EXPECT_EQ(c.engram.primeStart, 16000000);
  EXPECT_EQ(c.engram.padToken, 2);
  EXPECT_EQ(c.engram.classes, 99092);
  EXPECT_EQ(c.dsparkStages, 3);
  EXPECT_EQ(c.dsparkBlock, 5);
  EXPECT_EQ(c.dsparkExperts, 128);
  EXPECT_EQ(c.dsparkExpertsPerToken, 3);
  EXPECT_EQ(c.dsparkMarkovRank, 256);
  EXPECT_EQ(c.dsparkNoiseToken, 128799);
  EXPECT_EQ(c.dsparkTargetLayers, (std::vector<int>{37, 38, 39}));
  EXPECT_EQ(c.imageToken, 129264);
  EXPECT_EQ(c.vision.layers, 32);
  EXPECT_EQ(c.vision.width, 1024);
  EXPECT_EQ(c.vision.heads, 16);
  EXPECT_EQ(c.vision.inner, 2816);
  EXPECT_EQ(c.vision.patch, 14);
  EXPECT_EQ(c.vision.downsample, 3);
  EXPECT_EQ(c.vision.maxImageTokens, 1024);
  EXPECT_EQ(c.vision.minPixels, 295936);
  EXPECT_DOUBLE_EQ(c.vision.maxWidthHeightRatio, 0);
}

TEST(ConfigV41, ReleasedNestedAndFlat) {
  const auto hub = ModelConfig::fromJson(released());
  ASSERT_TRUE(hub) << hub.status().message();
  expectReleased(*hub);
  const auto vendor = ModelConfig::fromJson(flat());
  ASSERT_TRUE(vendor) << vendor.status().message();
  expectReleased(*vendor);
  // Both spellings at once must agree, in lists as in numbers.
  Json both = released();
  both["text_config"]["kv_source_layers"] = {2, 8, 14, 20};
  EXPECT_TRUE(ModelConfig::fromJson(both));
  both["text_config"]["kv_source_layers"] = {2, 8, 20};
  EXPECT_EQ(ModelConfig::fromJson(both).status().id(), "config_invalid");
}

TEST(ConfigV41, TypeIsNotMatchedByItsBeginning) {
  for (const char* type : {"deepseek_v4x", "deepseek_v411", "deepseek_v41_vision", "deepseek_v42"}) {
    Json json = released();
    json["model_type"] = type;
    EXPECT_EQ(ModelConfig::fromJson(json).status().id(), "unsupported_model") << type;
  }
}

// Message of the error after setting `key` of text_config; empty when accepted.
std::string with(const std::string& key, const Json& value, const std::string& section = "text_config") {
  Json json = released();
  json[section][key] = value;
  const auto config = ModelConfig::fromJson(json);
  if (config) return {};
  EXPECT_EQ(config.status().id(), "config_invalid") << key;
  return config.status().message();
}

TEST(ConfigV41, MissingKeysAreNamed) {
  for (const char* key :
       {"kv_source_layer_ids", "index_source_layer_ids", "candidate_topk_blocks", "candidate_block_size",
        "engram_num_embeddings", "engram_max_ngram_size", "engram_n_heads", "engram_head_dim", "engram_vocab_size",
        "engram_pad_token_id", "engram_compressed_vocab_size", "num_nextn_predict_layers", "dspark_block_size",
        "dspark_noise_token_id", "dspark_target_layer_ids", "dspark_markov_rank", "dspark_n_routed_experts",
        "dspark_num_experts_per_tok"}) {
    const std::string message = with(key, nullptr);
    EXPECT_NE(message.find(key), std::string::npos) << key << ": " << message;
    EXPECT_NE(message.find("missing"), std::string::npos) << key << ": " << message;
  }
  for (const char* key : {"hidden_size", "num_attention_heads", "intermediate_size", "patch_size", "downsample_ratio",
                          "max_image_tokens", "min_pixels", "rope_theta"}) {
    const std::string message = with(key, nullptr, "vision_config");
    EXPECT_NE(message.find(key), std::string::npos) << key << ": " << message;
  }
  // What a checkpoint may lack altogether.
  EXPECT_EQ(with("candidate_source_layer_id", nullptr), "");
  EXPECT_EQ(with("candidate_source_layer_id", -1), "");
  EXPECT_EQ(with("candidate_topk_blocks", 64), "");
  EXPECT_EQ(with("engram_layer_ids", nullptr), "");
  EXPECT_EQ(with("num_hidden_layers", 0, "vision_config"), "");
  Json json = released();
  json.erase("vision_config");
  json["text_config"]["num_nextn_predict_layers"] = 0;
  json["text_config"]["compress_ratios"].erase(40);
  json["text_config"]["compress_ratios"].erase(40);
  json["text_config"]["compress_ratios"].erase(40);
  const auto bare = ModelConfig::fromJson(json);
  ASSERT_TRUE(bare) << bare.status().message();
  EXPECT_FALSE(bare->vision.present());
  EXPECT_EQ(bare->dsparkBlock, 0);
}

Json ratiosWith(std::initializer_list<std::pair<int, int>> changes) {
  Json ratios = released()["text_config"]["compress_ratios"];
  for (const auto& [layer, ratio] : changes) ratios[static_cast<std::size_t>(layer)] = ratio;
  return ratios;
}

TEST(ConfigV41, ImpossiblePlans) {
  struct Case {
    const char* key;
    Json value;
    const char* says;
  };
  Json tooShort = released()["text_config"]["compress_ratios"];
  tooShort.erase(42);
  const Case cases[] = {
      {"compress_ratios", tooShort, "43 numbers"},
      {"compress_ratios", ratiosWith({{42, 1}}), "stage 2"},
      {"compress_ratios", ratiosWith({{5, -1}}), "layer 5"},
      {"compress_ratios", ratiosWith({{1, 2}}), "no layer up to it"},       // nobody makes its entries
      {"compress_ratios", ratiosWith({{5, 1}}), "whose ratio is 2"},        // its source's ratio differs
      {"compress_ratios", ratiosWith({{8, 0}}), "layer 8"},                 // a source without entries
      {"compress_ratios", ratiosWith({{36, 0}}), "layer 36"},               // chooses from nothing
      {"kv_source_layer_ids", {8, 14, 20}, "no layer up to it"},            // 2 to 7 are left alone
      {"kv_source_layer_ids", {2, 8, 14}, "whose ratio is 2"},              // 20 on would read ratio 2
      {"kv_source_layer_ids", {0, 2, 8, 14, 20}, "no compressed entries"},  // ratio 0
      {"kv_source_layer_ids", {2, 5, 8, 14, 20}, "not in index_source_layer_ids"},
      {"kv_source_layer_ids", {2, 14, 8, 20}, "ascend"},
      {"kv_source_layer_ids", {2, 8, 8, 14, 20}, "ascend"},
      {"kv_source_layer_ids", {2, 8, 14, 40}, "0 to 39"},
      {"kv_source_layer_ids", "all", "list"},
      {"index_source_layer_ids", {1, 2, 8, 14, 20}, "to choose from"},
      {"index_source_layer_ids", {2, 8, 20, 24}, "not in index_source_layer_ids"},
      {"candidate_source_layer_id", 24, "kv_source_layer_ids"},  // chooses, but owns nothing
      {"candidate_source_layer_id", 21, "kv_source_layer_ids"},
      {"candidate_source_layer_id", 14, "another ratio"},
      {"candidate_source_layer_id", 40, "up to 39"},
      {"candidate_topk_blocks", 63, "index_topk"},  // 63 x 8 < 512
      {"candidate_block_size", 0, "candidate_block_size"},
      {"num_hash_layers", 3, "num_hash_layers"},
      {"hidden_size", 5136, "multiple of 32"},
      {"head_dim", 80, "multiple of"},
      {"engram_layer_ids", {14, 1}, "ascend"},
      {"engram_layer_ids", {1, 40}, "0 to 39"},
      {"engram_layer_ids", {1, 14, 20}, "3 layers"},
      {"engram_num_embeddings", {384006168, 16}, "fewer rows"},
      {"engram_num_embeddings", {384006168, 1099511627776LL}, "possible"},
      {"engram_max_ngram_size", 9, "2 to 8"},
      {"engram_max_ngram_size", 1, "2 to 8"},
      {"engram_head_dim", 48, "multiple of 32"},
      {"engram_compressed_vocab_size", 129281, "vocab_size"},
      {"engram_compressed_vocab_size", 0, "vocab_size"},
      {"engram_pad_token_id", 129280, "vocab_size"},
      {"engram_vocab_size", 1e12, "engram_vocab_size"},
      {"dspark_num_experts_per_tok", 129, "128 experts"},
      {"dspark_target_layer_ids", {37, 40}, "0 to 39"},
      {"dspark_target_layer_ids", Json::array(), "missing"},
      {"num_nextn_predict_layers", 4, "44 numbers"},
  };
  for (const Case& test : cases) {
    const std::string message = with(test.key, test.value);
    EXPECT_NE(message.find(test.says), std::string::npos)
        << test.key << " = " << test.value.dump() << ": " << (message.empty() ? "accepted" : message);
  }
  for (const auto& [key, value] : std::vector<std::pair<const char*, Json>>{{"hidden_size", 1000},
                                                                            {"num_attention_heads", 512},
                                                                            {"max_image_tokens", 3},
                                                                            {"min_pixels", 0},
                                                                            {"max_wh_ratio", 0.5},
                                                                            {"downsample_ratio", 100},
                                                                            {"num_hidden_layers", -1}}) {
    EXPECT_NE(with(key, value, "vision_config"), "") << key << " = " << value.dump();
  }
  // A published index key of a deeper source must exist for each entry of an earlier one.
  Json rising = released();
  rising["text_config"]["compress_ratios"] = ratiosWith({{2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}});
  const auto risen = ModelConfig::fromJson(rising);
  ASSERT_FALSE(risen);
  EXPECT_NE(risen.status().message().find("rises from 1 in layer 2 to 2 in layer 8"), std::string::npos)
      << risen.status().message();
  Json blocks = released();
  blocks["quantization_config"]["weight_block_size"] = {128, 128};
  EXPECT_EQ(ModelConfig::fromJson(blocks).status().id(), "unsupported_model");
}

}  // namespace
}  // namespace colibri::testing
