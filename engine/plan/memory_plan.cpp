#include "plan/memory_plan.h"

#include "base/units.h"

#include <algorithm>
#include <limits>
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

Status doesNotFit(const PlanInput& input, std::uint64_t needed, std::uint64_t budget, const std::string& what,
                  std::string advice) {
  const std::string source = input.ramBytes ? "the memory budget is " : "the memory budget (from free memory) is ";
  // A full context is what can be given up most easily when it alone would cover the gap.
  const std::uint64_t shortfall = needed - budget;
  if (!input.cacheExperts && !input.cap && input.kvBytes / 2 > shortfall) advice += ", or halve --ctx";
  return Status(Code::kMemory, "memory_budget",
                what + " needs " + binarySize(needed) + ", but " + source + binarySize(budget) + ": " +
                    binarySize(shortfall) + " too little. Use " + advice + ".",
                "needed_bytes=" + std::to_string(needed) + " budget_bytes=" + std::to_string(budget) +
                    " shortfall_bytes=" + std::to_string(shortfall));
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
  const std::uint64_t fromFree = input.freeBytes - systemMargin(input.freeBytes);
  const std::uint64_t budget = input.ramBytes.value_or(fromFree);
  std::uint64_t fixed = input.reserveBytes;
  for (const std::uint64_t part : {input.denseBytes, input.headBytes, input.kvBytes, input.scratchBytes}) {
    fixed = saturatingAdd(fixed, part);
  }
  const std::uint64_t minimum = saturatingAdd(fixed, input.totalExperts == 0 ? 0 : input.slotBytes);
  if (minimum > budget) {
    return doesNotFit(input, minimum, budget, "The model with one expert slot", "--ram " + settingFor(minimum));
  }

  const auto fitting = [&](std::uint64_t bytes) {
    if (input.slotBytes == 0) return input.totalExperts;
    return bytes <= fixed ? 0 : std::min(input.totalExperts, (bytes - fixed) / input.slotBytes);
  };
  std::uint64_t slots = 0;
  if (input.cacheExperts || input.cap) {
    const std::uint64_t asked =
        input.cacheExperts ? *input.cacheExperts
                           : saturatingMultiply(*input.cap, static_cast<std::uint64_t>(std::max(input.layers, 0)));
    slots = std::min(asked, input.totalExperts);
    const std::uint64_t needed = saturatingAdd(fixed, saturatingMultiply(slots, input.slotBytes));
    if (needed > budget) {
      const std::uint64_t fits = fitting(budget);
      const auto perLayer = fits / static_cast<std::uint64_t>(std::max(input.layers, 1));
      std::string advice = "--ram " + settingFor(needed);
      if (input.cacheExperts) {
        advice += " or --cache-experts " + std::to_string(fits);
      } else if (perLayer > 0) {
        advice += " or --cap " + std::to_string(perLayer);
      }
      return doesNotFit(input, needed, budget, "The model with " + std::to_string(slots) + " expert slots",
                        std::move(advice));
    }
  } else {
    slots = std::min(fitting(budget), std::max<std::uint64_t>(fitting(fromFree), 1));
    slots = std::min(slots, input.totalExperts);
  }

  EnginePlan plan;
  plan.budgetBytes = budget;
  plan.expertSlots = slots;
  for (int i = 0; i < static_cast<int>(MemoryTag::kCount); ++i) {
    const auto tag = static_cast<MemoryTag>(i);
    std::uint64_t bytes = 0;
    switch (tag) {
      case MemoryTag::kDense:
        bytes = input.denseBytes;
        break;
      case MemoryTag::kHead:
        bytes = input.headBytes;
        break;
      case MemoryTag::kKv:
        bytes = input.kvBytes;
        break;
      case MemoryTag::kScratch:
        bytes = input.scratchBytes;
        break;
      case MemoryTag::kExpertCache:
        bytes = slots * input.slotBytes;
        break;
      case MemoryTag::kReserve:
        bytes = input.reserveBytes;
        break;
      default:
        break;
    }
    plan.parts.push_back({tag, bytes});
    plan.usedBytes += bytes;
  }
  return plan;
}

}  // namespace colibri
