#include "store/expert_store.h"

#include "store/expert_store_state.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace colibri {
namespace {

constexpr std::size_t kCompletionsAtOnce = 64;
constexpr std::uint32_t kExtentBits = 8;

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
                          Buffer memory, std::size_t slotCount)
    : store(owner),
      layout(std::move(expertLayout)),
      bytesPerSlot(slotBytes(layout)),
      arena(std::move(memory)),
      backend(std::move(readBackend)),
      slotTable(slotCount),
      policy(slotCount),
      completions(kCompletionsAtOnce) {
  std::size_t experts = 0;
  std::uint32_t shards = 0;
  for (int layer = 0; layer < layout.layers(); ++layer) {
    layerStarts.push_back(experts);
    experts += static_cast<std::size_t>(layout.experts(layer));
    for (int expert = 0; expert < layout.experts(layer); ++expert) {
      for (const Extent& extent : layout.place(layer, expert).extents) shards = std::max(shards, extent.shard + 1);
    }
  }
  slotOf.assign(experts, kNoSlot);
  wantedBefore.assign(experts, false);
  resident = std::vector<std::atomic<std::uint8_t>>(experts);
  bytesReadByShard = std::vector<std::atomic<std::uint64_t>>(shards);
  for (auto slot = static_cast<std::uint32_t>(slotCount); slot-- > 0;) emptySlots.push_back(slot);
}

bool ExpertStore::State::join(ExpertBatch::State& batch, int expert) {
  const std::uint32_t index = slotOf[flatIndex(batch.layer, expert)];
  if (index == kNoSlot) return false;
  Slot& slot = slotTable[index];
  ++slot.pins;
  hits.fetch_add(1, std::memory_order_relaxed);
  if (slot.state == SlotState::kReady) {
    policy.used(index);
    batch.arrived.push_back({expert, index, Status()});
  } else {
    slot.waiters.push_back(&batch);
    batch.loading.push_back(index);
  }
  return true;
}

std::uint32_t ExpertStore::State::takeSlot() {
  if (!emptySlots.empty()) {
    const std::uint32_t slot = emptySlots.back();
    emptySlots.pop_back();
    return slot;
  }
  const auto victim = policy.victim(
      [this](std::size_t slot) { return slotTable[slot].state == SlotState::kReady && slotTable[slot].pins == 0; });
  if (!victim) return kNoSlot;
  Slot& slot = slotTable[*victim];
  const std::size_t flat = flatIndex(slot.layer, slot.expert);
  slotOf[flat] = kNoSlot;
  resident[flat].store(0, std::memory_order_relaxed);
  slot.state = SlotState::kEmpty;
  return static_cast<std::uint32_t>(*victim);
}

void ExpertStore::State::startLoading(std::uint32_t index, ExpertBatch::State& batch, int expert) {
  Slot& slot = slotTable[index];
  const ExpertPlace& place = layout.place(batch.layer, expert);
  const std::size_t flat = flatIndex(batch.layer, expert);
  slot.state = SlotState::kLoading;
  ++slot.epoch;
  slot.pins = 1;
  slot.layer = batch.layer;
  slot.expert = expert;
  slot.readsLeft = static_cast<std::uint32_t>(place.extents.size());
  slot.waiters.push_back(&batch);
  slotOf[flat] = index;
  batch.loading.push_back(index);

  std::byte* window = slotMemory(index);
  std::uint64_t asked = 0;
  for (std::size_t i = 0; i < place.extents.size(); ++i) {
    const Extent& extent = place.extents[i];
    const std::uint64_t start = alignDown(extent.offset);
    const std::uint64_t bytes = windowBytes(extent);
    requests.push_back({extent.shard, start, bytes, extent.offset + extent.bytes - start, window, tagOf(index, i)});
    for (std::size_t p = 0; p < kExpertParts; ++p) {
      if (place.parts[p].extent != i) continue;
      slot.view.parts[p] =
          reinterpret_cast<const std::uint8_t*>(window + (extent.offset - start) + place.parts[p].offset);
    }
    bytesReadByShard[extent.shard].fetch_add(bytes, std::memory_order_relaxed);
    window += bytes;
    asked += bytes;
  }
  misses.fetch_add(1, std::memory_order_relaxed);
  if (!wantedBefore[flat]) compulsoryMisses.fetch_add(1, std::memory_order_relaxed);
  wantedBefore[flat] = true;
  bytesMissed.fetch_add(place.bytes(), std::memory_order_relaxed);
  bytesRead.fetch_add(asked, std::memory_order_relaxed);
}

void ExpertStore::State::startWaiting(ExpertBatch::State& batch) {
  requests.clear();
  while (batch.hasWaiting()) {
    const int expert = batch.waiting[batch.firstWaiting];
    if (!join(batch, expert)) {
      const std::uint32_t slot = takeSlot();
      if (slot == kNoSlot) break;
      startLoading(slot, batch, expert);
    }
    ++batch.firstWaiting;
  }
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
    slot.failure.reset();
    slot.state = SlotState::kEmpty;
    slot.pins = 0;
    slotOf[flat] = kNoSlot;
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
  store->m_state = std::make_unique<State>(*store, std::move(layout), std::move(backend), std::move(arena), slots);
  return store;
}

Result<ExpertBatch> ExpertStore::resolve(int layer, std::span<const int> experts) {
  State& state = *m_state;
  const int count = layer >= 0 && layer < state.layout.layers() ? state.layout.experts(layer) : 0;
  for (const int expert : experts) {
    if (expert < 0 || expert >= count) {
      return Status(Code::kInternal, "expert_out_of_range",
                    "Expert " + std::to_string(expert) + " of layer " + std::to_string(layer) + " does not exist.");
    }
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
  stats.waitSeconds = static_cast<double>(state.waitNanoseconds.load(kRelaxed)) * 1e-9;
  std::int64_t reading = state.readNanoseconds.load(kRelaxed);
  if (const std::int64_t since = state.readingSince.load(kRelaxed); since != 0) {
    reading += State::Clock::now().time_since_epoch().count() - since;
  }
  stats.readSeconds = static_cast<double>(reading) * 1e-9;
  return stats;
}

std::uint64_t ExpertStore::bytesRead(std::uint32_t shard) const {
  const auto& shards = m_state->bytesReadByShard;
  return shard < shards.size() ? shards[shard].load(std::memory_order_relaxed) : 0;
}

std::uint64_t ExpertStore::slots() const {
  return m_state->slotTable.size();
}

const ReadBackend& ExpertStore::backend() const {
  return *m_state->backend;
}

std::vector<std::uint8_t> ExpertStore::heat() const {
  return std::vector<std::uint8_t>(m_state->resident.size(), 0);
}

std::vector<std::uint8_t> ExpertStore::residency() const {
  std::vector<std::uint8_t> snapshot;
  snapshot.reserve(m_state->resident.size());
  for (const auto& flag : m_state->resident) snapshot.push_back(flag.load(std::memory_order_relaxed));
  return snapshot;
}

}  // namespace colibri
