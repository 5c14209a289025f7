#pragma once
// What would make it faster, found by planning again with one thing changed.

#include "plan/memory_plan.h"
#include "plan/turn_predictor.h"
#include <colibri/plan.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace colibri {

/// The pieces of a plan that advice varies.
struct AdviceFacts {
  const EnginePlan& plan;
  const PlanInput& input;
  const TurnPredictor& predictor;
  TurnShape shape;
  int context = 0;
  bool segmentIsGiven = false;
  /// Scratch bytes with another prefill segment.
  std::function<std::uint64_t(int segment)> scratchBytes;
};

/// One sentence each, most gain first; what cannot be expressed in tokens a second comes last. Gains below 3 % are not
/// mentioned.
[[nodiscard]] std::vector<std::string> adviceFor(const AdviceFacts& facts);

}  // namespace colibri
