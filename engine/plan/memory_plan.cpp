#include "plan/memory_plan.h"

#include "base/units.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

namespace colibri {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

std::uint64_t saturatingAdd(std::uint64_t a, std::uint64_t b) {
  return a > kMax - b ? kMax : a + b;
}

std::uint64_t saturatingMultiply(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kMax / b ? kMax : a * b;
}

/// A size for a command line that is not below `bytes`: whole MiB.
std::string settingFor(std::uint64_t bytes) {
  constexpr std::uint64_t kMib = std::uint64_t{1} << 20;
  return std::to_string(saturatingAdd(bytes, kMib - 1) / kMib) + "M";
}

/// Sums of a plan's parts that do not depend on the number of slots.
struct FixedBytes {
  std::uint64_t resident = 0;  ///< with all dense weights in RAM
  std::uint64_t streamed = 0;  ///< with the windows in place of the streamable ones; the same where that saves nothing
  [[nodiscard]] bool canStream() const { return streamed < resident; }
};

FixedBytes fixedBytes(const PlanInput& input) {
  std::uint64_t others = input.reserveBytes;
  for (const std::uint64_t part :
       {input.headBytes, input.kvBytes, input.scratchBytes, input.draftBytes, input.visionBytes, input.engramBytes}) {
    others = saturatingAdd(others, part);
  }
  FixedBytes fixed;
  fixed.resident = saturatingAdd(others, input.denseBytes);
  const std::uint64_t small = input.denseBytes - std::min(input.denseBytes, input.streamableBytes);
  fixed.streamed = std::min(fixed.resident, saturatingAdd(others, saturatingAdd(small, input.windowBytes)));
  return fixed;
}

std::uint64_t slotsWithin(const PlanInput& input, std::uint64_t fixed, std::uint64_t bytes) {
  if (input.slotBytes == 0) return input.totalExperts;
  return bytes <= fixed ? 0 : std::min(input.totalExperts, (bytes - fixed) / input.slotBytes);
}

/// Slots that the user named, in all layers together.
std::optional<std::uint64_t> askedSlots(const PlanInput& input) {
  if (!input.cacheExperts && !input.cap) return std::nullopt;
  const std::uint64_t asked =
      input.cacheExperts ? *input.cacheExperts
                         : saturatingMultiply(*input.cap, static_cast<std::uint64_t>(std::max(input.layers, 0)));
  return std::min(asked, input.totalExperts);
}

Status doesNotFit(const PlanInput& input, std::uint64_t budget, const FixedBytes& fixed, std::uint64_t slots) {
  const auto need = [&](std::uint64_t part, std::uint64_t count) {
    return saturatingAdd(part, saturatingMultiply(count, input.slotBytes));
  };
  const std::uint64_t needed = need(fixed.streamed, slots);
  std::string what =
      slots == 1 ? "The model with one expert slot" : "The model with " + std::to_string(slots) + " expert slots";
  if (fixed.canStream()) what += ", reading its large weights anew for each token,";
  std::string advice = "--ram " + settingFor(needed);
  if (fixed.canStream()) {
    const std::uint64_t working = std::max(
        slots,
        std::min<std::uint64_t>(input.totalExperts, static_cast<std::uint64_t>(std::max(input.expertsPerToken, 1))));
    advice += " (" + settingFor(need(fixed.resident, working)) + " keeps all weights that every token needs in memory)";
  }
  const std::uint64_t fits = slotsWithin(input, fixed.streamed, budget);
  const std::uint64_t perLayer = fits / static_cast<std::uint64_t>(std::max(input.layers, 1));
  if (input.cacheExperts && fits > 0) advice += " or --cache-experts " + std::to_string(fits);
  if (input.cap && perLayer > 0) advice += " or --cap " + std::to_string(perLayer);
  // A full context is what can be given up most easily when it alone would cover the gap.
  const std::uint64_t shortfall = needed - budget;
  if (!input.cacheExperts && !input.cap && input.kvBytes / 2 > shortfall) advice += ", or halve --ctx";
  const std::string source = input.ramBytes ? "the memory budget is " : "the memory budget (from free memory) is ";
  return Status(Code::kMemory, "memory_budget",
                what + " needs " + binarySize(needed) + ", but " + source + binarySize(budget) + ": " +
                    binarySize(shortfall) + " too little. Use " + advice + ".",
                "needed_bytes=" + std::to_string(needed) + " budget_bytes=" + std::to_string(budget) +
                    " shortfall_bytes=" + std::to_string(shortfall));
}

// Experts are worth more than n-gram rows, which are read ahead anyway.
constexpr std::uint64_t kEngramShare = 16;

std::uint64_t moreEngramBytes(const PlanInput& input, std::uint64_t used, std::uint64_t limit) {
  return used >= limit ? 0 : std::min(input.engramMoreBytes, (limit - used) / kEngramShare);
}

std::uint64_t bytesOf(const PlanInput& input, const EnginePlan& plan, std::uint64_t moreEngram, MemoryTag tag) {
  switch (tag) {
    case MemoryTag::kDense:
      return plan.streamsDense ? input.denseBytes - input.streamableBytes + input.windowBytes : input.denseBytes;
    case MemoryTag::kHead:
      return input.headBytes;
    case MemoryTag::kVision:
      return input.visionBytes;
    case MemoryTag::kDraft:
      return input.draftBytes;
    case MemoryTag::kKv:
      return input.kvBytes;
    case MemoryTag::kScratch:
      return input.scratchBytes;
    case MemoryTag::kEngramCache:
      return input.engramBytes + moreEngram;
    case MemoryTag::kExpertCache:
      return plan.expertSlots * input.slotBytes;
    case MemoryTag::kReserve:
      return input.reserveBytes;
    case MemoryTag::kPinned:
    case MemoryTag::kCheckpoints:
    case MemoryTag::kCount:
      break;
  }
  return 0;
}

}  // namespace

std::uint64_t systemMargin(std::uint64_t freeBytes) {
  return std::min(std::max(freeBytes / 16, std::uint64_t{512} << 20), freeBytes / 4);
}

Result<EnginePlan> planMemory(const PlanInput& input) {
  if (input.cacheExperts && input.cap) {
    return Status(Code::kUsage, "cap_and_cache_experts",
                  "--cap and --cache-experts say the same thing in two ways; give only one of them.");
  }
  if (input.cacheExperts == std::uint64_t{0} || input.cap == std::uint64_t{0}) {
    return Status(Code::kUsage, "no_expert_slots", "At least one expert slot is needed; give a number from 1 up.");
  }
  EnginePlan plan;
  plan.budgetBytes = input.ramBytes.value_or(input.freeBytes - systemMargin(input.freeBytes));
  const FixedBytes fixed = fixedBytes(input);
  const auto need = [&](std::uint64_t part, std::uint64_t slots) {
    return saturatingAdd(part, saturatingMultiply(slots, input.slotBytes));
  };
  const std::optional<std::uint64_t> asked = askedSlots(input);
  const std::uint64_t least = asked.value_or(std::min<std::uint64_t>(1, input.totalExperts));
  if (need(fixed.streamed, least) > plan.budgetBytes) return doesNotFit(input, plan.budgetBytes, fixed, least);

  // What is really there bounds what is planned, as long as the least that works is below it.
  const std::uint64_t there = input.ramBytes ? input.freeBytes - input.freeBytes / 32 : plan.budgetBytes;
  const std::uint64_t limit =
      asked ? plan.budgetBytes : std::min(plan.budgetBytes, std::max(there, need(fixed.streamed, least)));
  const std::uint64_t working =
      asked.value_or(std::min(input.totalExperts, static_cast<std::uint64_t>(std::max(input.expertsPerToken, 1))));
  plan.streamsDense = fixed.canStream() && need(fixed.resident, working) > limit;
  const std::uint64_t needed = plan.streamsDense ? fixed.streamed : fixed.resident;
  const std::uint64_t moreEngram = moreEngramBytes(input, need(needed, working), limit);
  const std::uint64_t used = needed + moreEngram;
  plan.expertSlots = asked.value_or(std::max(slotsWithin(input, used, limit), least));
  for (int i = 0; i < static_cast<int>(MemoryTag::kCount); ++i) {
    const auto tag = static_cast<MemoryTag>(i);
    plan.parts.push_back({tag, bytesOf(input, plan, moreEngram, tag)});
    plan.usedBytes += plan.parts.back().bytes;
  }
  return plan;
}

}  // namespace colibri
