#pragma once
// The memory ledger's plan: which part of the budget each purpose gets, and how many expert slots remain.

#include <colibri/engine.h>
#include <colibri/status.h>

#include <cstdint>
#include <optional>

namespace colibri {

/// What the process holds beside its planned buffers (code, heap, headers of the shards, thread stacks).
inline constexpr std::uint64_t kProcessReserveBytes = std::uint64_t{32} << 20;

/// All that the plan depends on, as plain numbers; nothing is probed inside. Sizes in bytes.
struct PlanInput {
  std::uint64_t denseBytes = 0;               ///< weights that every token needs, without the head
  std::uint64_t streamableBytes = 0;          ///< part of denseBytes that can be read for each pass instead
  std::uint64_t windowBytes = 0;              ///< RAM that replaces the streamable part then
  std::uint64_t headBytes = 0;                ///< output head and embedding table, where they are resident
  std::uint64_t kvBytes = 0;                  ///< one session's state at the full context
  std::uint64_t scratchBytes = 0;             ///< activations for the chunk and segment in use
  std::uint64_t draftBytes = 0;               ///< drafter, where it is resident
  std::uint64_t visionBytes = 0;              ///< image tower, where it is resident
  std::uint64_t engramBytes = 0;              ///< cache of n-gram rows, the least that is made
  std::uint64_t engramMoreBytes = 0;          ///< what it can use beyond that
  std::uint64_t slotBytes = 0;                ///< RAM of one expert slot (ExpertStore::slotBytes)
  std::uint64_t totalExperts = 0;             ///< routed experts of all layers; more slots are never made
  int expertsPerToken = 0;                    ///< experts that one token needs in one layer
  int layers = 0;                             ///< layers with routed experts
  std::optional<std::uint64_t> ramBytes;      ///< --ram
  std::optional<std::uint64_t> cacheExperts;  ///< --cache-experts: slots in all
  std::optional<std::uint64_t> cap;           ///< --cap: slots per layer; excludes cacheExperts
  std::uint64_t freeBytes = 0;                ///< memory that this process may still take (availableMemoryBytes())
  std::uint64_t reserveBytes = kProcessReserveBytes;
};

/// Part of free memory that is left to the rest of the machine when no budget is given: a sixteenth, at least 512 MiB,
/// at most a quarter.
[[nodiscard]] std::uint64_t systemMargin(std::uint64_t freeBytes);

/// Fills budgetBytes, usedBytes, parts (every MemoryTag, in its order), expertSlots and streamsDense of a plan; the
/// other fields are the caller's. Order: everything fixed and a minimum working set of experts (those of one layer's
/// step, or what was asked for), then the dense weights, then more experts and, with a sixteenth of that memory at
/// most, more n-gram rows. Where the dense weights do not fit beside the working set, their streamable part is read for
/// each pass; only models without one are given fewer slots than a step needs. Without ramBytes the budget is the free
/// memory less systemMargin(). Planned slots also stay within free memory less a thirty-second, since --ram is a
/// ceiling and no promise; slots that were asked for are made when they fit the budget. Errors: kMemory
/// ("memory_budget") with the shortfall and the nearest settings that work; kUsage for zero slots or both cacheExperts
/// and cap.
Result<EnginePlan> planMemory(const PlanInput& input);

}  // namespace colibri
