#include "checkpoint/model_config.h"

#include "base/json.h"
#include "checkpoint/config_keys.h"
#include "checkpoint/config_scope.h"
#include "checkpoint/config_sections.h"
#include "checkpoint/json_cursor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace colibri {
namespace {

constexpr std::string_view kFile = "config.json";
constexpr std::size_t kMaxConfigBytes = std::size_t{16} << 20;

class Reader {
public:
  explicit Reader(const Json& json) : m_scope(json) {}

  Result<ModelConfig> run() {
    COLIBRI_RETURN_IF_ERROR(readFamily());
    m_scope.setFamily(m_config.family);
    m_config.weightBlock = m_config.family == ModelFamily::kDeepSeekV4 ? 128 : 32;
    COLIBRI_RETURN_IF_ERROR(m_scope.readTable(kIntegerKeys, m_config));
    COLIBRI_RETURN_IF_ERROR(m_scope.readTable(kRealKeys, m_config));
    for (const FixedKey& key : kFixedKeys) COLIBRI_RETURN_IF_ERROR(m_scope.checkFixed(key));
    COLIBRI_RETURN_IF_ERROR(readContext());
    COLIBRI_RETURN_IF_ERROR(readDrafter(m_scope, m_config));
    COLIBRI_RETURN_IF_ERROR(readLayerSources(m_scope, m_config));
    COLIBRI_RETURN_IF_ERROR(m_scope.readToken("bos_token_id", "", m_config.vocabSize, m_config.bosToken));
    COLIBRI_RETURN_IF_ERROR(m_scope.readToken("eos_token_id", "", m_config.vocabSize, m_config.eosToken));
    COLIBRI_RETURN_IF_ERROR(readEngram(m_scope, m_config));
    COLIBRI_RETURN_IF_ERROR(readVision(m_scope, m_config));
    COLIBRI_RETURN_IF_ERROR(checkBlocks());
    COLIBRI_RETURN_IF_ERROR(checkProducts());
    return m_config;
  }

private:
  Status readFamily() {
    std::string type;
    if (const Json* value = m_scope.findRoot("model_type"); value != nullptr && value->is_string()) {
      type = value->get<std::string>();
    } else if (const Json* names = m_scope.findRoot("architectures");
               names != nullptr && names->is_array() && !names->empty() && names->front().is_string()) {
      const auto name = names->front().get<std::string>();
      type = name == "DeepseekV4ForCausalLM" ? "deepseek_v4" : name == "DeepseekV41ForCausalLM" ? "deepseek_v41" : name;
    } else if (m_scope.find("n_layers") != nullptr && m_scope.find("compress_ratios") != nullptr) {
      // The vendor's own file names no family; only V4.1 has engram tables and shared compressors.
      type = m_scope.find("engram_layer_ids") != nullptr || m_scope.find("kv_source_layers") != nullptr ? "deepseek_v41"
                                                                                                        : "deepseek_v4";
    } else {
      return configInvalid("model_type is missing, so it does not say which model this is.");
    }
    if (type == "deepseek_v4") {
      m_config.family = ModelFamily::kDeepSeekV4;
    } else if (type == "deepseek_v41" || type == "deepseek_v41_text") {
      m_config.family = ModelFamily::kDeepSeekV41;
      type = "deepseek_v41";
    } else {
      return configUnsupported("model_type is \"" + printable(type, 60) +
                               "\"; Colibri runs DeepSeek V4 (\"deepseek_v4\") and V4.1 (\"deepseek_v41\").");
    }
    m_config.modelType = type;
    return Status::ok();
  }

  Status readContext() {
    // The vendor's file has no such key; its max_seq_len is a run-time setting.
    const Json* value = m_scope.find("max_position_embeddings");
    constexpr int kMost = 1 << 30;
    if (value != nullptr) {
      const auto whole = wholeNumber(*value, 1, kMost);
      if (!whole)
        return configInvalid("max_position_embeddings is " + shortText(*value) +
                             "; a whole number up to 2^30 is possible.");
      m_config.maxPositions = static_cast<int>(*whole);
      if (m_config.originalContext == 0) m_config.originalContext = m_config.maxPositions;
      return Status::ok();
    }
    if (m_config.originalContext == 0) return ConfigScope::missing("max_position_embeddings", "original_seq_len");
    m_config.maxPositions = static_cast<int>(std::min<double>(kMost, m_config.originalContext * m_config.ropeFactor));
    return Status::ok();
  }

  static Status needMultiple(std::string_view what, std::int64_t value, int of, std::string_view why) {
    if (value % of == 0) return Status::ok();
    return configInvalid(std::string(what) + " is " + std::to_string(value) + ", which is no multiple of " +
                         std::to_string(of) + " (" + std::string(why) + ").");
  }

  // The shapes that the released number formats need: activations are quantised in blocks along a matrix's inputs.
  Status checkBlocks() const {
    const ModelConfig& c = m_config;
    if (c.ropeDim % 2 != 0 || c.ropeDim > c.headDim) {
      return configInvalid("qk_rope_head_dim is " + std::to_string(c.ropeDim) + "; an even number up to head_dim (" +
                           std::to_string(c.headDim) + ") is possible.");
    }
    const std::int64_t attention = std::int64_t{c.heads} * c.headDim;
    COLIBRI_RETURN_IF_ERROR(needMultiple("num_attention_heads x head_dim", attention, c.oGroups, "o_groups"));
    const int block = c.weightBlock;
    const bool v4 = c.family == ModelFamily::kDeepSeekV4;
    constexpr std::string_view kBlock = "the block of the fp8 weights";
    COLIBRI_RETURN_IF_ERROR(needMultiple("hidden_size", c.hiddenSize, block, kBlock));
    COLIBRI_RETURN_IF_ERROR(needMultiple("moe_intermediate_size", c.moeIntermediate, block, kBlock));
    COLIBRI_RETURN_IF_ERROR(needMultiple("q_lora_rank", c.qLoraRank, block, kBlock));
    COLIBRI_RETURN_IF_ERROR(needMultiple("head inputs of one output group", attention / c.oGroups, block, kBlock));
    COLIBRI_RETURN_IF_ERROR(
        needMultiple("o_groups x o_lora_rank", std::int64_t{c.oGroups} * c.oLoraRank, block, kBlock));
    // V4 keeps the rotated channels as they are and turns index keys by Hadamard; V4.1 quantises whole vectors.
    if (v4) {
      COLIBRI_RETURN_IF_ERROR(
          needMultiple("head_dim - qk_rope_head_dim", c.headDim - c.ropeDim, 64, "the block of the KV cache"));
    } else {
      COLIBRI_RETURN_IF_ERROR(needMultiple("head_dim", c.headDim, 32, "the block of the KV cache"));
      COLIBRI_RETURN_IF_ERROR(needMultiple("o_lora_rank", c.oLoraRank, block, kBlock));
      if (c.hashLayers > 0) return configInvalid("num_hash_layers is above 0, but V4.1 chooses no experts by token.");
    }
    if (c.indexHeadDim % 32 != 0 || (v4 && (c.indexHeadDim & (c.indexHeadDim - 1)) != 0)) {
      return configInvalid("index_head_dim is " + std::to_string(c.indexHeadDim) + "; " +
                           (v4 ? "a power of two of at least 32" : "a multiple of 32") + " is needed.");
    }
    if (c.ropeDim > c.indexHeadDim) return configInvalid("qk_rope_head_dim is larger than index_head_dim.");
    if (c.expertsPerToken > c.routedExperts) {
      return configInvalid("num_experts_per_tok is " + std::to_string(c.expertsPerToken) + ", more than the " +
                           std::to_string(c.routedExperts) + " experts of a layer.");
    }
    if (c.hashLayers > c.layers) return configInvalid("num_hash_layers is larger than num_hidden_layers.");
    if (const Json* size = m_scope.find("quantization_config.weight_block_size");
        size != nullptr && *size != Json::array({block, block})) {
      return configUnsupported("weight_block_size is " + shortText(*size) + "; Colibri knows only [" +
                               std::to_string(block) + ", " + std::to_string(block) + "].");
    }
    return Status::ok();
  }

  Status checkProducts() const {
    const ModelConfig& c = m_config;
    struct Product {
      std::string_view what;
      std::int64_t value;
      std::int64_t most;
    };
    const Product products[] = {
        {"num_attention_heads x head_dim", std::int64_t{c.heads} * c.headDim, 1 << 21},
        {"o_groups x o_lora_rank", std::int64_t{c.oGroups} * c.oLoraRank, 1 << 21},
        {"index_n_heads x index_head_dim", std::int64_t{c.indexHeads} * c.indexHeadDim, 1 << 21},
        {"hc_mult x hidden_size", std::int64_t{c.hcMult} * c.hiddenSize, 1 << 21},
        {"vocab_size x hidden_size", std::int64_t{c.vocabSize} * c.hiddenSize, std::int64_t{1} << 36},
        {"hidden_size x moe_intermediate_size", std::int64_t{c.hiddenSize} * c.moeIntermediate, std::int64_t{1} << 30},
        // Six tensors an expert; a checkpoint has at most a million tensors.
        {"num_hidden_layers x n_routed_experts",
         std::int64_t{c.layers} * c.routedExperts + std::int64_t{c.dsparkStages} * c.dsparkExperts, 1000000 / 6},
        {"vocab_size x dspark_markov_rank", std::int64_t{c.vocabSize} * c.dsparkMarkovRank, std::int64_t{1} << 36},
        {"engram hashes x engram_head_dim", std::int64_t{c.engram.columns()} * c.engram.headDim, 1 << 21},
    };
    for (const Product& product : products) {
      if (product.value > product.most) {
        return configInvalid(std::string(product.what) + " is " + std::to_string(product.value) +
                             ", more than the possible " + std::to_string(product.most) + ".");
      }
    }
    return Status::ok();
  }

  ConfigScope m_scope;
  ModelConfig m_config;
};

}  // namespace

Result<ModelConfig> ModelConfig::fromJson(const Json& json) {
  if (!json.is_object()) return configInvalid("an object is needed.");
  return Reader(json).run();
}

Result<Json> loadConfigJson(const std::filesystem::path& folder) {
  auto text = readFile(folder / kFile, kMaxConfigBytes);
  if (!text) {
    if (text.status().id() == "missing_file") {
      return Status(Code::kCheckpoint, "missing_config",
                    "There is no config.json in " + folder.string() + ". Choose the folder that holds the model.");
    }
    return Status(Code::kCheckpoint, "config_invalid", text.status().message());
  }
  return parseJson(*text, kFile, "config_invalid");
}

Result<ModelConfig> ModelConfig::load(const std::filesystem::path& folder) {
  COLIBRI_ASSIGN_OR_RETURN(const Json json, loadConfigJson(folder));
  return fromJson(json);
}

}  // namespace colibri
