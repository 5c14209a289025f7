// How wants, slots and reads come together.

#include "store/expert_store_state.h"

#include <algorithm>
#include <string>
#include <utility>

namespace colibri {
namespace {

// Pages are taken from the system this far ahead of the slots in use; a smaller arena is not worth a thread.
constexpr std::size_t kPopulateAhead = std::size_t{512} << 20;
constexpr std::size_t kLeastToPopulate = std::size_t{64} << 20;

std::uint64_t tagOf(std::uint32_t slot, std::size_t extent) {
  return std::uint64_t{slot} << kExtentBits | static_cast<std::uint64_t>(extent);
}

}  // namespace

ExpertStore::State::State(ExpertStore& owner, ExpertLayout expertLayout, std::unique_ptr<ReadBackend> readBackend,
                          Buffer memory, std::size_t slotCount, UsageHistory* usageHistory)
    : store(owner),
      layout(std::move(expertLayout)),
      bytesPerSlot(slotBytes(layout)),
      history(usageHistory),
      arena(std::move(memory)),
      backend(std::move(readBackend)),
      slotTable(slotCount),
      policy(slotCount),
      completions(kCompletionsAtOnce) {
  std::size_t experts = 0;
  for (int layer = 0; layer < layout.layers(); ++layer) {
    layerStarts.push_back(experts);
    experts += static_cast<std::size_t>(layout.experts(layer));
  }
  slotOf.assign(experts, kNoSlot);
  wantedBefore.assign(experts, false);
  resident = std::vector<std::atomic<std::uint8_t>>(experts);
  activeSlots.store(slotCount, std::memory_order_relaxed);
  std::vector<std::span<std::byte>> slotMemories;
  for (auto slot = static_cast<std::uint32_t>(slotCount); slot-- > 0;) emptySlots.push_back(slot);
  for (std::uint32_t slot = 0; slot < slotCount; ++slot) slotMemories.emplace_back(slotMemory(slot), bytesPerSlot);
  backend->registerBuffers(slotMemories);
  if (arena.size() >= kLeastToPopulate) populator = PagePopulator::start(arena.data(), arena.size(), kPopulateAhead);
}

void ExpertStore::State::countMiss(std::size_t flat, const ExpertPlace& place) {
  misses.fetch_add(1, std::memory_order_relaxed);
  if (!wantedBefore[flat]) compulsoryMisses.fetch_add(1, std::memory_order_relaxed);
  bytesMissed.fetch_add(place.bytes(), std::memory_order_relaxed);
}

void ExpertStore::State::meetAhead(std::uint32_t index) {
  Slot& slot = slotTable[index];
  --aheadSlots[static_cast<std::size_t>(slot.ahead)];
  slot.ahead = ReadPriority::kDemand;
  slot.keptRound = 0;
  prefetchedUsed.fetch_add(1, std::memory_order_relaxed);
  countMiss(flatIndex(slot.layer, slot.expert), layout.place(slot.layer, slot.expert));
  if (slot.state != SlotState::kLoading) return;
  const std::size_t extents = layout.place(slot.layer, slot.expert).extents.size();
  for (std::size_t i = 0; i < extents; ++i) backend->promote(tagOf(index, i), ReadPriority::kDemand);
}

bool ExpertStore::State::join(ExpertBatch::State& batch, int expert) {
  const std::size_t flat = flatIndex(batch.layer, expert);
  const std::uint32_t index = slotOf[flat];
  if (index == kNoSlot) return false;
  Slot& slot = slotTable[index];
  ++slot.pins;
  const bool wasAhead = slot.ahead != ReadPriority::kDemand;
  if (wasAhead) {
    meetAhead(index);
  } else {
    hits.fetch_add(1, std::memory_order_relaxed);
  }
  wantedBefore[flat] = true;
  if (slot.state == SlotState::kReady) {
    if (!wasAhead) policy.used(index);
    batch.arrived.push_back({expert, index, Status()});
  } else {
    slot.waiters.push_back(&batch);
    batch.loading.push_back(index);
  }
  return true;
}

void ExpertStore::State::giveUp(std::uint32_t index) {
  Slot& slot = slotTable[index];
  const std::size_t flat = flatIndex(slot.layer, slot.expert);
  slotOf[flat] = kNoSlot;
  resident[flat].store(0, std::memory_order_relaxed);
  slot.state = SlotState::kEmpty;
  if (slot.ahead == ReadPriority::kDemand) return;
  --aheadSlots[static_cast<std::size_t>(slot.ahead)];
  slot.ahead = ReadPriority::kDemand;
  slot.keptRound = 0;
  prefetchedUnused.fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t ExpertStore::State::takeSlot(ReadPriority priority) {
  if (!emptySlots.empty()) {
    const std::uint32_t slot = emptySlots.back();
    emptySlots.pop_back();
    if (slot >= touchedSlots) {
      touchedSlots = slot + std::size_t{1};
      if (populator) populator->reached(touchedSlots * bytesPerSlot);
    }
    return slot;
  }
  const auto isFree = [](const Slot& slot) { return slot.state == SlotState::kReady && slot.pins == 0; };
  auto victim = policy.victim([&](std::size_t index) {
    const Slot& slot = slotTable[index];
    if (!isFree(slot)) return false;
    return priority == ReadPriority::kDemand ? !isKept(slot) : slot.ahead == ReadPriority::kDemand;
  });
  // What is kept for later is given up only to what is needed now.
  if (!victim && priority == ReadPriority::kDemand) {
    victim = policy.victim([&](std::size_t index) { return isFree(slotTable[index]); });
  }
  if (!victim) return kNoSlot;
  giveUp(static_cast<std::uint32_t>(*victim));
  return static_cast<std::uint32_t>(*victim);
}

void ExpertStore::State::startLoading(std::uint32_t index, int layer, int expert, ReadPriority priority) {
  Slot& slot = slotTable[index];
  const ExpertPlace& place = layout.place(layer, expert);
  slot.state = SlotState::kLoading;
  ++slot.epoch;
  slot.pins = 0;
  slot.layer = layer;
  slot.expert = expert;
  slot.readsLeft = static_cast<std::uint32_t>(place.extents.size());
  slotOf[flatIndex(layer, expert)] = index;

  std::byte* window = slotMemory(index);
  std::uint64_t asked = 0;
  for (std::size_t i = 0; i < place.extents.size(); ++i) {
    const Extent& extent = place.extents[i];
    const std::uint64_t start = alignDown(extent.offset);
    const std::uint64_t bytes = windowBytes(extent);
    ReadRequest request;
    request.file = extent.shard;
    request.offset = start;
    request.bytes = bytes;
    request.expected = extent.offset + extent.bytes - start;
    request.target = window;
    request.tag = tagOf(index, i);
    request.priority = priority;
    request.buffer = index;
    requests.push_back(request);
    for (std::size_t p = 0; p < kExpertParts; ++p) {
      if (place.parts[p].extent != i) continue;
      slot.view.parts[p] =
          reinterpret_cast<const std::uint8_t*>(window + (extent.offset - start) + place.parts[p].offset);
    }
    window += bytes;
    asked += bytes;
  }
  bytesRead.fetch_add(asked, std::memory_order_relaxed);
}

void ExpertStore::State::submitRequests() {
  if (requests.empty()) return;
  if (readsInFlight == 0) {
    lastReadEnd = Clock::now();
    readingSince.store(lastReadEnd.time_since_epoch().count(), std::memory_order_relaxed);
  }
  readsInFlight += requests.size();
  const Status status = backend->submit(requests);
  if (status.isOk()) return;
  for (const ReadRequest& request : requests) endRead({request.tag, status, 0, Clock::now()});
}

void ExpertStore::State::startWaiting(ExpertBatch::State& batch) {
  requests.clear();
  while (batch.hasWaiting()) {
    const int expert = batch.waiting[batch.firstWaiting];
    if (!join(batch, expert)) {
      const std::uint32_t index = takeSlot(ReadPriority::kDemand);
      if (index == kNoSlot) break;
      startLoading(index, batch.layer, expert, ReadPriority::kDemand);
      Slot& slot = slotTable[index];
      slot.pins = 1;
      slot.waiters.push_back(&batch);
      batch.loading.push_back(index);
      const std::size_t flat = flatIndex(batch.layer, expert);
      countMiss(flat, layout.place(batch.layer, expert));
      wantedBefore[flat] = true;
    }
    ++batch.firstWaiting;
  }
  submitRequests();
}

void ExpertStore::State::takeCompletions() {
  std::size_t count = completions.size();
  while (readsInFlight > 0 && count == completions.size()) {
    count = backend->poll(completions, false);
    for (std::size_t i = 0; i < count; ++i) endRead(completions[i]);
  }
}

void ExpertStore::State::endRead(const ReadCompletion& completion) {
  const auto index = static_cast<std::uint32_t>(completion.tag >> kExtentBits);
  Slot& slot = slotTable[index];
  const ExpertPlace& place = layout.place(slot.layer, slot.expert);
  const Extent& extent = place.extents[completion.tag & ((1U << kExtentBits) - 1)];
  const std::uint64_t expected = extent.offset + extent.bytes - alignDown(extent.offset);
  if (!slot.failure && !(completion.status.isOk() && completion.bytes >= expected)) {
    const Status cause = !completion.status.isOk()
                             ? completion.status
                             : Status(Code::kIo, "short_read",
                                      "A read brought " + std::to_string(completion.bytes) + " of " +
                                          std::to_string(expected) + " bytes. Check the drive, then try again.",
                                      {}, true);
    slot.failure = std::make_unique<Status>(
        cause.within("Layer " + std::to_string(slot.layer) + ", expert " + std::to_string(slot.expert)));
  }
  lastReadEnd = std::max(lastReadEnd, completion.finished);
  if (--readsInFlight == 0) {
    const auto now = lastReadEnd.time_since_epoch().count();
    readNanoseconds.fetch_add(now - readingSince.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  }
  if (--slot.readsLeft == 0) endLoading(index);
}

void ExpertStore::State::endLoading(std::uint32_t index) {
  Slot& slot = slotTable[index];
  const std::size_t flat = flatIndex(slot.layer, slot.expert);
  for (ExpertBatch::State* batch : slot.waiters) {
    batch->loading.erase(std::find(batch->loading.begin(), batch->loading.end(), index));
    batch->arrived.push_back({slot.expert, index, slot.failure ? *slot.failure : Status()});
  }
  slot.waiters.clear();
  if (slot.failure) {
    // Nobody waits for a read ahead: whoever wants the expert reads it again and hears of a failure then.
    slot.failure.reset();
    giveUp(index);
    slot.pins = 0;
    emptySlots.push_back(index);
    return;
  }
  slot.state = SlotState::kReady;
  policy.filled(index);
  resident[flat].store(1, std::memory_order_relaxed);
}

Status ExpertStore::State::checkRange(int layer, std::span<const int> experts) const {
  const int count = layer >= 0 && layer < layout.layers() ? layout.experts(layer) : 0;
  for (const int expert : experts) {
    if (expert < 0 || expert >= count) {
      return Status(Code::kInternal, "expert_out_of_range",
                    "Expert " + std::to_string(expert) + " of layer " + std::to_string(layer) + " does not exist.");
    }
  }
  return Status::ok();
}

}  // namespace colibri
