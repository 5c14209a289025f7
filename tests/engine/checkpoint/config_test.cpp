// config.json: both spellings, nested or flat, and everything that must be refused in words.
#include "base/json.h"
#include "checkpoint/model_config.h"
#include "checkpoint_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace colibri::testing {
namespace {

Json demo() {
  const auto json = loadConfigJson(std::filesystem::path(COLIBRI_RESOURCE_DIR) / "demo-model");
  EXPECT_TRUE(json);
  return *json;
}

/// Id of the error after setting `key` of the demo's config to `value` (discarded: the key is removed).
std::string with(const std::string& key, const Json& value, std::string* message = nullptr) {
  Json json = demo();
  if (value.is_discarded()) {
    json.erase(key);
  } else {
    json[key] = value;
  }
  const Status status = ModelConfig::fromJson(json).status();
  if (message != nullptr) *message = status.message();
  return status.id();
}

const Json kRemoved(Json::value_t::discarded);

TEST(Config, DemoValues) {
  const auto config = ModelConfig::fromJson(demo());
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->modelType, "deepseek_v4");
  EXPECT_EQ(config->vocabSize, 3072);
  EXPECT_EQ(config->layers, 5);
  EXPECT_EQ(config->compressRatios, (std::vector<int>{0, 0, 4, 128, 4}));
  EXPECT_EQ(config->routedExperts, 32);
  EXPECT_EQ(config->expertsPerToken, 4);
  EXPECT_EQ(config->maxPositions, 4096);
  EXPECT_EQ(config->originalContext, 65536);
  EXPECT_DOUBLE_EQ(config->ropeFactor, 16);
  EXPECT_DOUBLE_EQ(config->swigluLimit, 10);
}

TEST(Config, VendorSpellingGivesTheSameNumbers) {
  Json json = demo();
  const std::pair<const char*, const char*> renamed[] = {{"hidden_size", "dim"},
                                                         {"num_hidden_layers", "n_layers"},
                                                         {"num_attention_heads", "n_heads"},
                                                         {"moe_intermediate_size", "moe_inter_dim"},
                                                         {"num_hash_layers", "n_hash_layers"},
                                                         {"num_experts_per_tok", "n_activated_experts"},
                                                         {"scoring_func", "score_func"},
                                                         {"routed_scaling_factor", "route_scale"},
                                                         {"qk_rope_head_dim", "rope_head_dim"},
                                                         {"sliding_window", "window_size"},
                                                         {"rms_norm_eps", "norm_eps"}};
  for (const auto& [hub, vendor] : renamed) {
    json[vendor] = json[hub];
    json.erase(hub);
  }
  json["rope_factor"] = json["rope_scaling"]["factor"];
  json["original_seq_len"] = json["rope_scaling"]["original_max_position_embeddings"];
  for (const char* key :
       {"rope_scaling", "model_type", "architectures", "max_position_embeddings", "quantization_config"})
    json.erase(key);
  const auto vendor = ModelConfig::fromJson(json);
  ASSERT_TRUE(vendor) << vendor.status().message();
  const auto hub = ModelConfig::fromJson(demo());
  EXPECT_EQ(vendor->family, ModelFamily::kDeepSeekV4);
  EXPECT_EQ(vendor->hiddenSize, hub->hiddenSize);
  EXPECT_EQ(vendor->moeIntermediate, hub->moeIntermediate);
  EXPECT_EQ(vendor->slidingWindow, hub->slidingWindow);
  EXPECT_EQ(vendor->originalContext, hub->originalContext);
  EXPECT_DOUBLE_EQ(vendor->routedScale, hub->routedScale);
  EXPECT_EQ(vendor->maxPositions, 65536 * 16);
  // Both spellings at once must agree.
  json["hidden_size"] = 256;
  EXPECT_EQ(ModelConfig::fromJson(json).status().id(), "config_invalid");
}

TEST(Config, NestedIsTheSameAsFlat) {
  Json nested = {{"model_type", "deepseek_v4"}, {"text_config", demo()}};
  const auto config = ModelConfig::fromJson(nested);
  ASSERT_TRUE(config) << config.status().message();
  EXPECT_EQ(config->vocabSize, 3072);
}

TEST(Config, MissingKeysAreNamed) {
  for (const char* key : {"vocab_size", "hidden_size", "num_hidden_layers", "head_dim", "q_lora_rank", "o_groups",
                          "sliding_window", "compress_ratios", "n_routed_experts", "num_experts_per_tok",
                          "num_hash_layers", "swiglu_limit", "rope_theta", "routed_scaling_factor", "hc_mult"}) {
    std::string message;
    EXPECT_EQ(with(key, kRemoved, &message), "config_invalid") << key;
    EXPECT_NE(message.find(key), std::string::npos) << message;
  }
}

TEST(Config, ImpossibleValues) {
  const std::pair<const char*, Json> wrong[] = {{"num_hidden_layers", 1000000000},
                                                {"num_hidden_layers", 0},
                                                {"num_hidden_layers", -1},
                                                {"num_hidden_layers", 5.5},
                                                {"num_hidden_layers", "5"},
                                                {"vocab_size", 1ULL << 63},
                                                {"hidden_size", 100},
                                                {"hidden_size", 1e300},
                                                {"head_dim", 100},
                                                {"qk_rope_head_dim", 63},
                                                {"qk_rope_head_dim", 256},
                                                {"num_experts_per_tok", 33},
                                                {"n_routed_experts", 1 << 30},
                                                {"index_head_dim", 96},
                                                {"num_hash_layers", 6},
                                                {"compress_ratios", "x"},
                                                {"compress_ratios", {0, 0, 4}},
                                                {"compress_ratios", {0, 0, 4, 128, -4}},
                                                {"compress_ratios", {0, 0, 4, 128, 1}},
                                                {"rms_norm_eps", -1},
                                                {"rope_theta", nullptr},
                                                {"rope_theta", "a"},
                                                {"n_shared_experts", 2},
                                                {"eos_token_id", 3072},
                                                {"o_groups", 3},
                                                {"swiglu_limit", -1},
                                                {"max_position_embeddings", 0}};
  for (const auto& [key, value] : wrong) EXPECT_EQ(with(key, value), "config_invalid") << key << " = " << value.dump();
  // Each number is possible, their product is not.
  Json json = demo();
  json["num_hidden_layers"] = 1024;
  json["n_routed_experts"] = 16384;
  json["compress_ratios"] = std::vector<int>(1024, 0);
  EXPECT_EQ(ModelConfig::fromJson(json).status().id(), "config_invalid");
}

TEST(Config, WhatTheFormulasTakeForGranted) {
  const std::pair<const char*, Json> other[] = {{"model_type", "deepseek_v5"},
                                                {"scoring_func", "softmax"},
                                                {"hidden_act", "gelu"},
                                                {"num_key_value_heads", 8},
                                                {"tie_word_embeddings", true},
                                                {"norm_topk_prob", false},
                                                {"rope_scaling", {{"type", "linear"}, {"factor", 2}}},
                                                {"quantization_config", {{"weight_block_size", {64, 64}}}}};
  for (const auto& [key, value] : other) EXPECT_EQ(with(key, value), "unsupported_model") << key;
  EXPECT_EQ(with("unknown_key", {{"x", 1}}), "");
  EXPECT_EQ(with("eos_token_id", Json::array({1, 2})), "");
  EXPECT_EQ(with("rope_scaling", nullptr), "");
}

TEST(Config, Files) {
  const TempFolder folder;
  EXPECT_EQ(ModelConfig::load(folder.path()).status().id(), "missing_config");
  for (const char* text : {"", "{", "[]", "{\"a\":1,\"a\":2}", "nan"}) {
    writeFile(folder.path() / "config.json", text);
    EXPECT_EQ(ModelConfig::load(folder.path()).status().id(), "config_invalid") << text;
  }
  writeFile(folder.path() / "config.json", std::string(100000, '['));
  EXPECT_EQ(ModelConfig::load(folder.path()).status().id(), "config_invalid");
}

}  // namespace
}  // namespace colibri::testing
