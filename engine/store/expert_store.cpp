#include "store/expert_store.h"

#include "store/expert_store_state.h"
#include "store/usage_history.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace colibri {
namespace {

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
