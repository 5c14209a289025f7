#pragma once
// Which tensors a DeepSeek V4 or V4.1 checkpoint has: names, types, shapes and what each is for. The table is in
// expected_tensors.cpp.

#include "checkpoint/expert_layout.h"
#include "checkpoint/findings.h"
#include "checkpoint/model_config.h"
#include "checkpoint/tensor.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

enum class TensorRole { kRoutedExpert, kDense, kEmbedding, kHead, kDraft, kEngram, kVision };

/// From the name alone; also for names that no table lists (kDense). Knows V4 and V4.1 names.
[[nodiscard]] TensorRole tensorRole(std::string_view name);
/// Whether one decoded token reads only a row of it (embedding and hash-routing tables).
[[nodiscard]] bool isLookupTable(std::string_view name);

/// Whether it is an n-gram table or its scales, which stay on disk and are read row by row.
[[nodiscard]] bool isEngramTable(std::string_view name);

enum class DraftKind { kNone, kMtp, kDspark };

/// The drafter that is stored. `experts[stage]` are the rows of each stage's router.
struct DraftVariant {
  DraftKind kind = DraftKind::kNone;
  std::vector<int> experts;
  int markovRank = 0;    ///< dspark
  int targetLayers = 0;  ///< dspark: main layers that the first stage reads
};

/// V4: by tensors, not by config (the released configs state one stage where three are stored). V4.1: the config's
/// stages, whatever is stored. `tensors` sorted by name.
[[nodiscard]] DraftVariant detectDraft(const ModelConfig& config, const std::vector<TensorInfo>& tensors);

/// Routed experts of each main layer: the rows of its gate.weight where those are plausible, else the config's number
/// (pruned checkpoints may keep more experts in hash-routed layers). `tensors` sorted by name.
[[nodiscard]] std::vector<int> expertCounts(const ModelConfig& config, const std::vector<TensorInfo>& tensors);

struct ExpectedTensor {
  std::string name;
  Dtype dtype = Dtype::kBf16;
  std::vector<std::uint64_t> shape;
};

/// Calls `use` with every tensor of the checkpoint, in the order: global, layers, draft stages, image tower.
void forEachExpected(const ModelConfig& config, const std::vector<int>& counts, const DraftVariant& draft,
                     const std::function<void(const ExpectedTensor&)>& use);

/// "layers.3.ffn.experts.7.w2.scale"
[[nodiscard]] std::string expertTensorName(int layer, int expert, ExpertPart part);
[[nodiscard]] ExpectedTensor expectedExpertPart(const ModelConfig& config, std::string name, ExpertPart part);

/// tensor_dtype or tensor_shape when `actual` is not what is needed. U8 is taken for the packed I8.
[[nodiscard]] std::optional<Finding> compareTensor(const ExpectedTensor& expected, const TensorInfo& actual,
                                                   std::string_view file);

/// nullptr when absent; `tensors` sorted by name.
[[nodiscard]] const TensorInfo* findTensor(const std::vector<TensorInfo>& tensors, std::string_view name);

}  // namespace colibri
