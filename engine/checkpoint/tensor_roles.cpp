#include "checkpoint/expected_tensors.h"
#include "checkpoint/json_cursor.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace colibri {
namespace {

constexpr int kMaxExperts = 1 << 14;
constexpr std::int64_t kMaxExpertsInAll = 1000000 / 6;  // six tensors each, a million tensors at most

// The rest of `name` behind "PREFIX<number>."; empty when it does not begin so.
std::string_view behindNumber(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  const std::size_t digits = name.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos || name[digits] != '.') return {};
  return name.substr(digits + 1);
}

// Rows of a router, when they are a plausible number of experts, else `otherwise`.
int gateRows(const ModelConfig& config, const std::vector<TensorInfo>& tensors, const std::string& prefix, int perToken,
             int otherwise) {
  const TensorInfo* gate = findTensor(tensors, prefix + "ffn.gate.weight");
  if (gate == nullptr || gate->shape.size() != 2) return otherwise;
  const std::uint64_t rows = gate->shape[0];
  const bool plausible = rows >= static_cast<std::uint64_t>(perToken) && rows <= kMaxExperts &&
                         gate->shape[1] == static_cast<std::uint64_t>(config.hiddenSize);
  return plausible ? static_cast<int>(rows) : otherwise;
}

std::string shapeText(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace

TensorRole tensorRole(std::string_view name) {
  if (name == "embed.weight") return TensorRole::kEmbedding;
  if (name == "head.weight") return TensorRole::kHead;
  if (name.starts_with("mtp.")) return TensorRole::kDraft;
  if (name.starts_with("vision.") || name.starts_with("aligner.") || name.starts_with("image_"))
    return TensorRole::kVision;
  const std::string_view inner = behindNumber(name, "layers.");
  if (inner.starts_with("engram.")) return TensorRole::kEngram;
  if (!behindNumber(inner, "ffn.experts.").empty()) return TensorRole::kRoutedExpert;
  return TensorRole::kDense;
}

bool isLookupTable(std::string_view name) {
  return name == "embed.weight" || name.ends_with(".ffn.gate.tid2eid");
}

bool isEngramTable(std::string_view name) {
  return tensorRole(name) == TensorRole::kEngram &&
         (name.ends_with(".engram.embed.weight") || name.ends_with(".engram.embed.scale"));
}

DraftVariant detectDraft(const ModelConfig& config, const std::vector<TensorInfo>& tensors) {
  DraftVariant draft;
  if (config.family == ModelFamily::kDeepSeekV41) {
    if (config.dsparkStages == 0) return draft;
    draft.kind = DraftKind::kDspark;
    draft.targetLayers = static_cast<int>(config.dsparkTargetLayers.size());
    draft.markovRank = config.dsparkMarkovRank;
    for (int stage = 0; stage < config.dsparkStages; ++stage) {
      draft.experts.push_back(gateRows(config, tensors, "mtp." + std::to_string(stage) + ".",
                                       config.dsparkExpertsPerToken, config.dsparkExperts));
    }
    return draft;
  }
  int stages = 0;
  const auto stagePresent = [&](int stage) {
    const std::string prefix = "mtp." + std::to_string(stage) + ".";
    const auto at =
        std::lower_bound(tensors.begin(), tensors.end(), prefix,
                         [](const TensorInfo& tensor, const std::string& wanted) { return tensor.name < wanted; });
    return at != tensors.end() && at->name.starts_with(prefix);
  };
  constexpr int kMaxStages = 8;  // the releases have up to three; a bound for files that claim thousands
  while (stages < kMaxStages && stagePresent(stages)) ++stages;
  if (stages == 0) return draft;
  const bool main = findTensor(tensors, "mtp.0.main_proj.weight") != nullptr;
  const bool embedding = findTensor(tensors, "mtp.0.e_proj.weight") != nullptr;
  // With both marks gone (a damaged checkpoint) the config is the better guess.
  const bool dspark = main || (!embedding && (stages > 1 || config.dsparkBlock > 0));
  draft.kind = dspark ? DraftKind::kDspark : DraftKind::kMtp;
  for (int stage = 0; stage < stages; ++stage) {
    draft.experts.push_back(
        gateRows(config, tensors, "mtp." + std::to_string(stage) + ".", config.expertsPerToken, config.routedExperts));
  }
  if (!dspark) return draft;
  draft.targetLayers = config.dsparkTargetLayers.empty() ? 3 : static_cast<int>(config.dsparkTargetLayers.size());
  draft.markovRank = config.dsparkMarkovRank;
  if (draft.markovRank == 0) {
    const TensorInfo* markov =
        findTensor(tensors, "mtp." + std::to_string(stages - 1) + ".markov_head.markov_w1.weight");
    if (markov != nullptr && markov->shape.size() == 2 && markov->shape[1] <= (1U << 17)) {
      draft.markovRank = static_cast<int>(markov->shape[1]);
    }
  }
  return draft;
}

std::vector<int> expertCounts(const ModelConfig& config, const std::vector<TensorInfo>& tensors) {
  std::vector<int> counts;
  std::int64_t sum = 0;
  for (int layer = 0; layer < config.layers; ++layer) {
    counts.push_back(gateRows(config, tensors, "layers." + std::to_string(layer) + ".", config.expertsPerToken,
                              config.routedExperts));
    sum += counts.back();
  }
  if (sum > kMaxExpertsInAll) counts.assign(static_cast<std::size_t>(config.layers), config.routedExperts);
  return counts;
}

std::optional<Finding> compareTensor(const ExpectedTensor& expected, const TensorInfo& actual, std::string_view file) {
  const std::string shown = printable(file, 300) + ": tensor \"" + printable(actual.name) + "\" ";
  const auto finding = [&](std::string_view code, const std::string& message) {
    return makeFinding(code, file, actual.name, shown + message,
                       "The file does not belong to this config.json; download both from the same revision.");
  };
  const bool packed = expected.dtype == Dtype::kI8 && actual.dtype == Dtype::kU8;
  if (actual.dtype != expected.dtype && !packed) {
    return finding("tensor_dtype", "has type " + std::string(dtypeName(actual.dtype)) + "; " +
                                       std::string(dtypeName(expected.dtype)) + " is needed.");
  }
  if (actual.shape != expected.shape) {
    return finding("tensor_shape",
                   "has shape " + shapeText(actual.shape) + "; config.json needs " + shapeText(expected.shape) + ".");
  }
  return std::nullopt;
}

const TensorInfo* findTensor(const std::vector<TensorInfo>& tensors, std::string_view name) {
  const auto at =
      std::lower_bound(tensors.begin(), tensors.end(), name,
                       [](const TensorInfo& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return at != tensors.end() && at->name == name ? &*at : nullptr;
}

}  // namespace colibri
