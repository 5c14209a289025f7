#include "store/expert_store.h"

#include "store/expert_store_state.h"
#include "store/usage_history.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace colibri {
namespace {

constexpr std::size_t kCompletionsAtOnce = 64;
constexpr std::uint32_t kExtentBits = 8;
// Pages are taken from the system this far ahead of the slots in use; a smaller arena is not worth a thread.
constexpr std::size_t kPopulateAhead = std::size_t{512} << 20;
constexpr std::size_t kLeastToPopulate = std::size_t{64} << 20;
constexpr std::chrono::milliseconds kCancelCheck{50};

/// Bytes of a slot that one extent takes: the blocks that it touches.
std::uint64_t windowBytes(const Extent& extent) {
  return alignUp(extent.offset + extent.bytes) - alignDown(extent.offset);
}

std::uint64_t windowBytes(const ExpertPlace& place) {
  std::uint64_t bytes = 0;
  for (const Extent& extent : place.extents) bytes += windowBytes(extent);
  return bytes;
}

/// The read tags name slot and extent.
std::uint64_t tagOf(std::uint32_t slot, std::size_t extent) {
  return std::uint64_t{slot} << kExtentBits | static_cast<std::uint64_t>(extent);
}

Status checkLayout(const ExpertLayout& layout) {
  for (int layer = 0; layer < layout.layers(); ++layer) {
    for (int expert = 0; expert < layout.experts(layer); ++expert) {
      const ExpertPlace& place = layout.place(layer, expert);
      bool fits = !place.extents.empty() && place.extents.size() < (std::size_t{1} << kExtentBits);
      for (const ExpertPartPlace& part : place.parts) {
        fits = fits && part.extent < place.extents.size() && part.bytes <= place.extents[part.extent].bytes &&
               part.offset <= place.extents[part.extent].bytes - part.bytes;
      }
      if (!fits) {
        return Status(Code::kInternal, "expert_place",
                      "The place of expert " + std::to_string(expert) + " in layer " + std::to_string(layer) +
                          " does not hold together.");
      }
    }
  }
  return Status::ok();
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
  slot.isKept = false;
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
  slot.isKept = false;
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
  const auto isFree = [this](const Slot& slot) { return slot.state == SlotState::kReady && slot.pins == 0; };
  auto victim = policy.victim([&](std::size_t index) {
    const Slot& slot = slotTable[index];
    if (!isFree(slot)) return false;
    return priority == ReadPriority::kDemand ? !slot.isKept : slot.ahead == ReadPriority::kDemand;
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

ExpertStore::ExpertStore() = default;
ExpertStore::~ExpertStore() = default;

std::uint64_t ExpertStore::slotBytes(const ExpertLayout& layout) {
  std::uint64_t most = 0;
  for (int layer = 0; layer < layout.layers(); ++layer) {
    for (int expert = 0; expert < layout.experts(layer); ++expert) {
      most = std::max(most, windowBytes(layout.place(layer, expert)));
    }
  }
  return most;
}

Result<std::unique_ptr<ExpertStore>> ExpertStore::create(ExpertLayout layout, std::unique_ptr<ReadBackend> backend,
                                                         const ExpertStoreOptions& options,
                                                         std::shared_ptr<Ledger> ledger) {
  if (options.slots == 0) {
    return Status(Code::kUsage, "no_expert_slots", "The expert cache needs at least one slot.");
  }
  COLIBRI_RETURN_IF_ERROR(checkLayout(layout));
  std::uint64_t experts = 0;
  for (int layer = 0; layer < layout.layers(); ++layer) experts += static_cast<std::uint64_t>(layout.experts(layer));
  const std::uint64_t slots = std::min(options.slots, experts);
  const std::uint64_t bytes = slotBytes(layout);
  if (slots >= State::kNoSlot || (slots != 0 && bytes > std::numeric_limits<std::size_t>::max() / slots)) {
    return Status(Code::kMemory, "out_of_memory",
                  std::to_string(slots) + " expert slots of " + std::to_string(bytes) +
                      " bytes are more than this system can address. Lower --ram.");
  }
  COLIBRI_ASSIGN_OR_RETURN(Buffer arena,
                           Buffer::allocateUntouched(slots * bytes, MemoryTag::kExpertCache, std::move(ledger)));
  std::unique_ptr<ExpertStore> store(new ExpertStore());
  store->m_state =
      std::make_unique<State>(*store, std::move(layout), std::move(backend), std::move(arena), slots, options.history);
  return store;
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

Result<ExpertBatch> ExpertStore::resolve(int layer, std::span<const int> experts, bool decode) {
  State& state = *m_state;
  COLIBRI_RETURN_IF_ERROR(state.checkRange(layer, experts));
  if (state.history != nullptr) {
    for (const int expert : experts) state.history->used(state.flatIndex(layer, expert), decode);
  }
  state.takeCompletions();
  std::unique_ptr<ExpertBatch::State> batch = state.newBatch(layer);
  // First all that is here or on its way is pinned, so that no victim is taken which this call needs.
  for (const int expert : experts) {
    if (!state.join(*batch, expert)) batch->waiting.push_back(expert);
  }
  state.startWaiting(*batch);
  return ExpertBatch(std::move(batch));
}

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
      if (isCertain && slot.ahead != ReadPriority::kDemand) slot.isKept = true;
      continue;
    }
    if (state.aheadSlots[static_cast<std::size_t>(priority)] >= most) break;
    const std::uint32_t index = state.takeSlot(priority);
    if (index == State::kNoSlot) break;
    state.startLoading(index, layer, experts[begun], priority);
    State::Slot& slot = state.slotTable[index];
    slot.ahead = priority;
    slot.isKept = isCertain;
    ++state.aheadSlots[static_cast<std::size_t>(priority)];
    state.prefetched.fetch_add(1, std::memory_order_relaxed);
  }
  state.submitRequests();
  return begun;
}

void ExpertStore::startRound() {
  State& state = *m_state;
  if (state.aheadSlots[static_cast<std::size_t>(ReadPriority::kCertain)] == 0) return;
  for (State::Slot& slot : state.slotTable) slot.isKept = false;
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
    if (state.readsInFlight > 0) (void)state.backend->waitReady(kCancelCheck);
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

void ExpertStore::poll() {
  m_state->takeCompletions();
}

ExpertStoreStats ExpertStore::stats() const {
  const State& state = *m_state;
  constexpr auto kRelaxed = std::memory_order_relaxed;
  ExpertStoreStats stats;
  stats.hits = state.hits.load(kRelaxed);
  stats.misses = state.misses.load(kRelaxed);
  stats.requests = stats.hits + stats.misses;
  stats.compulsoryMisses = state.compulsoryMisses.load(kRelaxed);
  stats.bytesMissed = state.bytesMissed.load(kRelaxed);
  stats.bytesRead = state.bytesRead.load(kRelaxed);
  stats.prefetched = state.prefetched.load(kRelaxed);
  stats.prefetchedUsed = state.prefetchedUsed.load(kRelaxed);
  stats.prefetchedUnused = state.prefetchedUnused.load(kRelaxed);
  stats.waitSeconds = static_cast<double>(state.waitNanoseconds.load(kRelaxed)) * 1e-9;
  std::int64_t reading = state.readNanoseconds.load(kRelaxed);
  if (const std::int64_t since = state.readingSince.load(kRelaxed); since != 0) {
    reading += State::Clock::now().time_since_epoch().count() - since;
  }
  stats.readSeconds = static_cast<double>(reading) * 1e-9;
  return stats;
}

std::uint64_t ExpertStore::slots() const {
  return m_state->activeSlots.load(std::memory_order_relaxed);
}

const ExpertLayout& ExpertStore::layout() const {
  return m_state->layout;
}

ReadBackend& ExpertStore::backend() {
  return *m_state->backend;
}

std::vector<std::uint8_t> ExpertStore::heat() const {
  if (m_state->history != nullptr) return m_state->history->heat();
  return std::vector<std::uint8_t>(m_state->resident.size(), 0);
}

std::vector<std::uint8_t> ExpertStore::residency() const {
  std::vector<std::uint8_t> snapshot;
  snapshot.reserve(m_state->resident.size());
  for (const auto& flag : m_state->resident) snapshot.push_back(flag.load(std::memory_order_relaxed));
  return snapshot;
}

}  // namespace colibri
