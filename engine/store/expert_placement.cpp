// ExpertStore: what is read before it is wanted, and what is given back.

#include "store/expert_store_state.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace colibri {

std::size_t ExpertStore::prefetch(int layer, std::span<const int> experts, ReadPriority priority) {
  State& state = *m_state;
  if (!state.checkRange(layer, experts).isOk()) return 0;
  state.takeCompletions();
  const bool isCertain = priority == ReadPriority::kCertain;
  const std::size_t most = static_cast<std::size_t>(slots()) / (isCertain ? 2 : 4);
  state.requests.clear();
  std::size_t begun = 0;
  for (; begun < experts.size(); ++begun) {
    const std::size_t flat = state.flatIndex(layer, experts[begun]);
    if (const std::uint32_t index = state.slotOf[flat]; index != State::kNoSlot) {
      State::Slot& slot = state.slotTable[index];
      if (isCertain && slot.ahead != ReadPriority::kDemand) slot.keptRound = state.round;
      continue;
    }
    if (state.aheadSlots[static_cast<std::size_t>(priority)] >= most) break;
    const std::uint32_t index = state.takeSlot(priority);
    if (index == State::kNoSlot) break;
    state.startLoading(index, layer, experts[begun], priority);
    State::Slot& slot = state.slotTable[index];
    slot.ahead = priority;
    slot.keptRound = isCertain ? state.round : 0;
    ++state.aheadSlots[static_cast<std::size_t>(priority)];
    state.prefetched.fetch_add(1, std::memory_order_relaxed);
  }
  state.submitRequests();
  return begun;
}

void ExpertStore::startRound() {
  ++m_state->round;
}

Status ExpertStore::preload(std::span<const std::uint32_t> flatExperts,
                            const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                            const Cancellation& cancellation) {
  State& state = *m_state;
  std::vector<std::uint32_t> wanted;
  std::uint64_t total = 0;
  const std::uint64_t askedBefore = state.bytesRead.load(std::memory_order_relaxed);
  for (const std::uint32_t flat : flatExperts) {
    if (wanted.size() == state.emptySlots.size()) break;
    if (flat >= state.slotOf.size() || state.slotOf[flat] != State::kNoSlot) continue;
    wanted.push_back(flat);
  }
  std::vector<std::pair<int, int>> places;
  for (const std::uint32_t flat : wanted) {
    const auto after = std::upper_bound(state.layerStarts.begin(), state.layerStarts.end(), flat);
    const auto layer = static_cast<int>(after - state.layerStarts.begin()) - 1;
    places.emplace_back(layer, static_cast<int>(flat - state.layerStarts[static_cast<std::size_t>(layer)]));
    total += windowBytes(state.layout.place(places.back().first, places.back().second));
  }
  std::size_t next = 0;
  while (next < places.size() || state.readsInFlight > 0) {
    if (cancellation.isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped while experts were loaded.");
    state.requests.clear();
    while (next < places.size() && state.readsInFlight + state.requests.size() < kCompletionsAtOnce) {
      const auto [layer, expert] = places[next++];
      // The list may name an expert twice.
      if (state.slotOf[state.flatIndex(layer, expert)] != State::kNoSlot || state.emptySlots.empty()) continue;
      state.startLoading(state.takeSlot(ReadPriority::kCertain), layer, expert, ReadPriority::kCertain);
    }
    state.submitRequests();
    if (state.readsInFlight > 0) (void)state.backend->waitReady(kStoreCancelCheck);
    state.takeCompletions();
    if (progress) progress(state.bytesRead.load(std::memory_order_relaxed) - askedBefore, total);
  }
  for (const auto& [layer, expert] : places) {
    if (state.slotOf[state.flatIndex(layer, expert)] != State::kNoSlot) continue;
    return Status(Code::kIo, "preload_failed",
                  "Some experts could not be loaded beforehand; they are read when they are needed.");
  }
  return Status::ok();
}

std::uint64_t ExpertStore::shrink(std::uint64_t bytes) {
  State& state = *m_state;
  state.takeCompletions();
  std::uint64_t freed = 0;
  while (freed < bytes && slots() > 1) {
    std::uint32_t index = State::kNoSlot;
    if (!state.emptySlots.empty()) {
      const auto highest = std::max_element(state.emptySlots.begin(), state.emptySlots.end());
      index = *highest;
      state.emptySlots.erase(highest);
    } else {
      index = state.takeSlot(ReadPriority::kDemand);
    }
    if (index == State::kNoSlot) break;
    // Untouched slots are the highest ones, so the populator's end moves down with them.
    if (index >= state.touchedSlots && state.populator) state.populator->limit(index * state.bytesPerSlot);
    state.backend->releaseBuffer(index);
    state.slotTable[index].state = State::SlotState::kRetired;
    state.activeSlots.fetch_sub(1, std::memory_order_relaxed);
    if (!state.arena.discard(index * state.bytesPerSlot, state.bytesPerSlot)) break;
    freed += state.bytesPerSlot;
  }
  return freed;
}

}  // namespace colibri
