#include "checkpoint/model_config.h"

#include "base/json.h"
#include "checkpoint/config_keys.h"
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

Status invalid(const std::string& why) {
  return {Code::kCheckpoint, "config_invalid", std::string(kFile) + ": " + why};
}

Status unsupported(const std::string& why) {
  return {Code::kCheckpoint, "unsupported_model", std::string(kFile) + ": " + why};
}

std::string shortText(const Json& value) {
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
}

std::string both(std::string_view hub, std::string_view vendor) {
  return vendor.empty() ? std::string(hub) : std::string(hub) + " (or " + std::string(vendor) + ")";
}

std::string number(double value) {
  if (std::abs(value) < 1e15 && value == std::floor(value)) return std::to_string(static_cast<std::int64_t>(value));
  return Json(value).dump();
}

class Reader {
public:
  explicit Reader(const Json& json) : m_root(json) {
    const auto text = json.find("text_config");
    if (text != json.end() && text->is_object()) m_text = &*text;
  }

  Result<ModelConfig> run() {
    COLIBRI_RETURN_IF_ERROR(readFamily());
    m_vendorSpelling = find("hidden_size") == nullptr && find("dim") != nullptr;
    for (const IntegerKey& key : kIntegerKeys) COLIBRI_RETURN_IF_ERROR(readInteger(key));
    for (const RealKey& key : kRealKeys) COLIBRI_RETURN_IF_ERROR(readReal(key));
    for (const FixedKey& key : kFixedKeys) COLIBRI_RETURN_IF_ERROR(checkFixed(key));
    COLIBRI_RETURN_IF_ERROR(readContext());
    COLIBRI_RETURN_IF_ERROR(readRatios());
    COLIBRI_RETURN_IF_ERROR(readTokens());
    COLIBRI_RETURN_IF_ERROR(readDrafter());
    COLIBRI_RETURN_IF_ERROR(checkBlocks());
    COLIBRI_RETURN_IF_ERROR(checkProducts());
    return m_config;
  }

private:
  // Value of `key` ("a" or "a.b") in text_config, else at the root; nullptr when absent or null.
  [[nodiscard]] const Json* find(std::string_view key) const {
    if (key.empty()) return nullptr;
    const auto dot = key.find('.');
    for (const Json* scope : {m_text, &m_root}) {
      if (scope == nullptr) continue;
      auto at = scope->find(std::string(key.substr(0, dot)));
      if (at == scope->end()) continue;
      if (dot != std::string_view::npos) {
        if (!at->is_object()) continue;
        const auto inner = at->find(std::string(key.substr(dot + 1)));
        if (inner == at->end()) continue;
        at = inner;
      }
      if (!at->is_null()) return &*at;
    }
    return nullptr;
  }

  // Both spellings at once are fine only when they agree.
  Status lookUp(std::string_view hub, std::string_view vendor, const Json*& value) const {
    const Json* one = find(hub);
    const Json* other = find(vendor);
    if (one != nullptr && other != nullptr && *one != *other) {
      return invalid(std::string(hub) + " is " + shortText(*one) + " but " + std::string(vendor) + " is " +
                     shortText(*other) + "; they mean the same and must agree.");
    }
    value = one != nullptr ? one : other;
    return Status::ok();
  }

  Status readFamily() {
    std::string type;
    if (const Json* value = findRoot("model_type"); value != nullptr && value->is_string()) {
      type = value->get<std::string>();
    } else if (const Json* names = findRoot("architectures");
               names != nullptr && names->is_array() && !names->empty() && names->front().is_string()) {
      const auto name = names->front().get<std::string>();
      type = name == "DeepseekV4ForCausalLM" ? "deepseek_v4" : name == "DeepseekV41ForCausalLM" ? "deepseek_v41" : name;
    } else if (find("n_layers") != nullptr && find("compress_ratios") != nullptr) {
      // The vendor's own file names no family; only V4.1 has engram tables and shared compressors.
      type =
          find("engram_layer_ids") != nullptr || find("kv_source_layers") != nullptr ? "deepseek_v41" : "deepseek_v4";
    } else {
      return invalid("model_type is missing, so it does not say which model this is.");
    }
    if (type == "deepseek_v4") {
      m_config.family = ModelFamily::kDeepSeekV4;
    } else if (type == "deepseek_v41" || type == "deepseek_v41_text") {
      m_config.family = ModelFamily::kDeepSeekV41;
      type = "deepseek_v41";
    } else {
      return unsupported("model_type is \"" + printable(type, 60) + "\"; Colibri runs DeepSeek V4 (\"deepseek_v4\").");
    }
    m_config.modelType = type;
    return Status::ok();
  }

  [[nodiscard]] const Json* findRoot(const std::string& key) const {
    const auto at = m_root.find(key);
    return at == m_root.end() || at->is_null() ? nullptr : &*at;
  }

  [[nodiscard]] bool isRequired(Presence presence) const {
    switch (presence) {
      case Presence::kRequired:
        return true;
      case Presence::kHubRequired:
        return !m_vendorSpelling;
      case Presence::kV4Required:
        return m_config.family == ModelFamily::kDeepSeekV4;
      case Presence::kOptional:
        return false;
    }
    return false;
  }

  Status missing(std::string_view hub, std::string_view vendor) const {
    return invalid("the key " + both(hub, vendor) + " is missing. Download config.json again.");
  }

  Status readInteger(const IntegerKey& key) {
    const Json* value = nullptr;
    COLIBRI_RETURN_IF_ERROR(lookUp(key.hub, key.vendor, value));
    if (value == nullptr) return isRequired(key.presence) ? missing(key.hub, key.vendor) : Status::ok();
    const auto whole = toInteger(*value, key.least, key.most);
    if (!whole) {
      return invalid(both(key.hub, key.vendor) + " is " + shortText(*value) + "; " +
                     (key.least == key.most ? "only " + std::to_string(key.least) + " is possible."
                                            : "a whole number from " + std::to_string(key.least) + " to " +
                                                  std::to_string(key.most) + " is possible."));
    }
    m_config.*key.member = *whole;
    return Status::ok();
  }

  Status readReal(const RealKey& key) {
    const Json* value = nullptr;
    COLIBRI_RETURN_IF_ERROR(lookUp(key.hub, key.vendor, value));
    if (value == nullptr) return isRequired(key.presence) ? missing(key.hub, key.vendor) : Status::ok();
    const double real = value->is_number() ? value->get<double>() : std::nan("");
    if (!(real >= key.least && real <= key.most)) {
      return invalid(both(key.hub, key.vendor) + " is " + shortText(*value) + "; a number from " + number(key.least) +
                     " to " + number(key.most) + " is possible.");
    }
    m_config.*key.member = real;
    return Status::ok();
  }

  Status checkFixed(const FixedKey& key) const {
    const Json* value = nullptr;
    COLIBRI_RETURN_IF_ERROR(lookUp(key.hub, key.vendor, value));
    if (value == nullptr || *value == Json::parse(key.value, nullptr, false)) return Status::ok();
    return unsupported(both(key.hub, key.vendor) + " is " + shortText(*value) + "; Colibri knows only " +
                       std::string(key.value) + ".");
  }

  static std::optional<int> toInteger(const Json& value, int least, int most) {
    if (!value.is_number()) return std::nullopt;
    const double real = value.get<double>();  // exact for every value in range
    if (!(real >= least && real <= most) || real != std::floor(real)) return std::nullopt;
    return static_cast<int>(real);
  }

  Status readContext() {
    // The vendor's file has no such key; its max_seq_len is a run-time setting.
    const Json* value = find("max_position_embeddings");
    constexpr int kMost = 1 << 30;
    if (value != nullptr) {
      const auto whole = toInteger(*value, 1, kMost);
      if (!whole)
        return invalid("max_position_embeddings is " + shortText(*value) + "; a whole number up to 2^30 is possible.");
      m_config.maxPositions = *whole;
      if (m_config.originalContext == 0) m_config.originalContext = *whole;
      return Status::ok();
    }
    if (m_config.originalContext == 0) return missing("max_position_embeddings", "original_seq_len");
    m_config.maxPositions = static_cast<int>(std::min<double>(kMost, m_config.originalContext * m_config.ropeFactor));
    return Status::ok();
  }

  Status readRatios() {
    const Json* list = find("compress_ratios");
    if (list == nullptr) return missing("compress_ratios", "");
    if (!list->is_array() || list->size() < static_cast<std::size_t>(m_config.layers)) {
      return invalid("compress_ratios must be a list of at least " + std::to_string(m_config.layers) +
                     " numbers, one a layer.");
    }
    // Entries beyond the main stack belong to draft layers, which are never compressed.
    for (int layer = 0; layer < m_config.layers; ++layer) {
      const Json& value = (*list)[static_cast<std::size_t>(layer)];
      const auto ratio = toInteger(value, 0, 1024);
      if (!ratio || (*ratio == 1 && m_config.family == ModelFamily::kDeepSeekV4)) {
        return invalid("compress_ratios has " + shortText(value) + " for layer " + std::to_string(layer) +
                       "; 0 or a ratio from 2 to 1024 is possible.");
      }
      m_config.compressRatios.push_back(*ratio);
    }
    return Status::ok();
  }

  Status readToken(std::string_view key, TokenId& token) const {
    const Json* value = find(key);
    if (value == nullptr) return Status::ok();
    if (value->is_array() && !value->empty()) value = &value->front();  // some tools write a list of stop tokens
    const auto whole = toInteger(*value, 0, m_config.vocabSize - 1);
    if (!whole) return invalid(std::string(key) + " is " + shortText(*value) + "; a token below vocab_size is needed.");
    token = *whole;
    return Status::ok();
  }

  Status readTokens() {
    COLIBRI_RETURN_IF_ERROR(readToken("bos_token_id", m_config.bosToken));
    return readToken("eos_token_id", m_config.eosToken);
  }

  Status readDrafter() {
    if (m_config.dsparkBlock == 0) return Status::ok();
    COLIBRI_RETURN_IF_ERROR(readToken("dspark_noise_token_id", m_config.dsparkNoiseToken));
    const Json* list = find("dspark_target_layer_ids");
    if (list == nullptr) return Status::ok();
    if (!list->is_array() || list->size() > 64)
      return invalid("dspark_target_layer_ids must be a short list of layers.");
    for (const Json& value : *list) {
      const auto layer = toInteger(value, 0, m_config.layers - 1);
      if (!layer) {
        return invalid("dspark_target_layer_ids has " + shortText(value) + "; layers 0 to " +
                       std::to_string(m_config.layers - 1) + " are possible.");
      }
      m_config.dsparkTargetLayers.push_back(*layer);
    }
    return Status::ok();
  }

  static Status needMultiple(std::string_view what, std::int64_t value, int of, std::string_view why) {
    if (value % of == 0) return Status::ok();
    return invalid(std::string(what) + " is " + std::to_string(value) + ", which is no multiple of " +
                   std::to_string(of) + " (" + std::string(why) + ").");
  }

  // The shapes that the released number formats need: activations are quantised in blocks along a matrix's inputs.
  Status checkBlocks() const {
    const ModelConfig& c = m_config;
    if (c.ropeDim % 2 != 0 || c.ropeDim > c.headDim) {
      return invalid("qk_rope_head_dim is " + std::to_string(c.ropeDim) + "; an even number up to head_dim (" +
                     std::to_string(c.headDim) + ") is possible.");
    }
    const std::int64_t attention = std::int64_t{c.heads} * c.headDim;
    COLIBRI_RETURN_IF_ERROR(needMultiple("num_attention_heads x head_dim", attention, c.oGroups, "o_groups"));
    const int block = c.family == ModelFamily::kDeepSeekV4 ? 128 : 32;
    constexpr std::string_view kBlock = "the block of the fp8 weights";
    COLIBRI_RETURN_IF_ERROR(needMultiple("hidden_size", c.hiddenSize, block, kBlock));
    COLIBRI_RETURN_IF_ERROR(needMultiple("moe_intermediate_size", c.moeIntermediate, block, kBlock));
    COLIBRI_RETURN_IF_ERROR(needMultiple("q_lora_rank", c.qLoraRank, block, kBlock));
    COLIBRI_RETURN_IF_ERROR(needMultiple("head inputs of one output group", attention / c.oGroups, block, kBlock));
    COLIBRI_RETURN_IF_ERROR(
        needMultiple("o_groups x o_lora_rank", std::int64_t{c.oGroups} * c.oLoraRank, block, kBlock));
    COLIBRI_RETURN_IF_ERROR(
        needMultiple("head_dim - qk_rope_head_dim", c.headDim - c.ropeDim, 64, "the block of the KV cache"));
    if (c.indexHeadDim % 32 != 0 || (c.indexHeadDim & (c.indexHeadDim - 1)) != 0) {
      return invalid("index_head_dim is " + std::to_string(c.indexHeadDim) +
                     "; a power of two of at least 32 is needed.");
    }
    if (c.ropeDim > c.indexHeadDim) return invalid("qk_rope_head_dim is larger than index_head_dim.");
    if (c.expertsPerToken > c.routedExperts) {
      return invalid("num_experts_per_tok is " + std::to_string(c.expertsPerToken) + ", more than the " +
                     std::to_string(c.routedExperts) + " experts of a layer.");
    }
    if (c.hashLayers > c.layers) return invalid("num_hash_layers is larger than num_hidden_layers.");
    if (const Json* size = find("quantization_config.weight_block_size");
        size != nullptr && *size != Json::array({block, block})) {
      return unsupported("weight_block_size is " + shortText(*size) + "; Colibri knows only [" + std::to_string(block) +
                         ", " + std::to_string(block) + "].");
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
        {"num_hidden_layers x n_routed_experts", std::int64_t{c.layers} * c.routedExperts, 1000000 / 6},
    };
    for (const Product& product : products) {
      if (product.value > product.most) {
        return invalid(std::string(product.what) + " is " + std::to_string(product.value) +
                       ", more than the possible " + std::to_string(product.most) + ".");
      }
    }
    return Status::ok();
  }

  const Json& m_root;
  const Json* m_text = nullptr;
  bool m_vendorSpelling = false;
  ModelConfig m_config;
};

}  // namespace

Result<ModelConfig> ModelConfig::fromJson(const Json& json) {
  if (!json.is_object()) return invalid("an object is needed.");
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

Status ModelConfig::supported() const {
  if (family == ModelFamily::kDeepSeekV4) return Status::ok();
  return {
      Code::kCheckpoint, "unsupported_model",
      "This is a DeepSeek V4.1 model (" + modelType +
          "). This version of Colibri reads its tokenizer and chat format but does not run it; it runs DeepSeek V4."};
}

}  // namespace colibri
