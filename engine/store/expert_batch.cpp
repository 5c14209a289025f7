// ExpertBatch and ExpertLease: handing out what the store has.

#include "store/expert_store_state.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace colibri {

void ExpertBatch::State::reset(ExpertStore::State* owner, int newLayer) {
  store = owner;
  layer = newLayer;
  waiting.clear();
  firstWaiting = 0;
  loading.clear();
  arrived.clear();
  firstArrived = 0;
}

std::unique_ptr<ExpertBatch::State> ExpertStore::State::newBatch(int layer) {
  std::unique_ptr<ExpertBatch::State> batch;
  if (batchPool.empty()) {
    batch = std::make_unique<ExpertBatch::State>();
  } else {
    batch = std::move(batchPool.back());
    batchPool.pop_back();
  }
  batch->reset(this, layer);
  return batch;
}

void ExpertStore::State::endBatch(std::unique_ptr<ExpertBatch::State> batch) {
  for (; batch->hasArrived(); ++batch->firstArrived) {
    const ExpertArrival& arrival = batch->arrived[batch->firstArrived];
    if (arrival.status.isOk()) unpin(arrival.slot);
  }
  for (const std::uint32_t index : batch->loading) {
    auto& waiters = slotTable[index].waiters;
    waiters.erase(std::find(waiters.begin(), waiters.end(), batch.get()));
    unpin(index);
  }
  batchPool.push_back(std::move(batch));
}

ExpertBatch::ExpertBatch(std::unique_ptr<State> state) : m_state(std::move(state)) {}
ExpertBatch::ExpertBatch(ExpertBatch&& other) noexcept = default;

ExpertBatch& ExpertBatch::operator=(ExpertBatch&& other) noexcept {
  ExpertBatch moved(std::move(other));
  std::swap(m_state, moved.m_state);
  return *this;
}

ExpertBatch::~ExpertBatch() {
  if (!m_state) return;
  ExpertStore::State& store = *m_state->store;
  store.endBatch(std::move(m_state));
}

bool ExpertBatch::hasNext() const {
  return m_state && (m_state->hasArrived() || m_state->hasWaiting() || !m_state->loading.empty());
}

Result<ExpertLease> ExpertBatch::next(const Cancellation& cancellation) {
  if (!hasNext()) {
    return Status(Code::kInternal, "no_expert_left", "A layer asked for more experts than it had wanted.");
  }
  ExpertStore::State& store = *m_state->store;
  std::chrono::steady_clock::duration waited{};
  Status status;
  while (true) {
    if (cancellation.isCancelled()) {
      status = Status(Code::kCancelled, "cancelled", "Cancelled while experts were being read.");
      break;
    }
    store.takeCompletions();
    if (m_state->hasWaiting()) store.startWaiting(*m_state);
    if (m_state->hasArrived()) break;
    if (store.readsInFlight == 0) {
      status = Status(Code::kInternal, "expert_slots_held", "Every slot of the expert cache is held by a lease.");
      break;
    }
    const auto start = std::chrono::steady_clock::now();
    (void)store.backend->waitReady(kStoreCancelCheck);
    waited += std::chrono::steady_clock::now() - start;
  }
  store.waitNanoseconds.fetch_add(std::chrono::duration_cast<std::chrono::nanoseconds>(waited).count(),
                                  std::memory_order_relaxed);
  if (!status.isOk()) return status;

  ExpertArrival& arrival = m_state->arrived[m_state->firstArrived++];
  if (!arrival.status.isOk()) return std::move(arrival.status);
  ExpertLease lease;
  lease.m_store = &store.store;
  lease.m_slot = arrival.slot;
  lease.m_epoch = store.slotTable[arrival.slot].epoch;
  lease.m_expert = arrival.expert;
  return lease;
}

ExpertLease::ExpertLease(ExpertLease&& other) noexcept
    : m_store(std::exchange(other.m_store, nullptr)),
      m_slot(other.m_slot),
      m_epoch(other.m_epoch),
      m_expert(std::exchange(other.m_expert, -1)) {}

ExpertLease& ExpertLease::operator=(ExpertLease&& other) noexcept {
  ExpertLease moved(std::move(other));
  std::swap(m_store, moved.m_store);
  std::swap(m_slot, moved.m_slot);
  std::swap(m_epoch, moved.m_epoch);
  std::swap(m_expert, moved.m_expert);
  return *this;
}

ExpertLease::~ExpertLease() {
  if (m_store != nullptr) m_store->m_state->unpin(m_slot);
}

ExpertView ExpertLease::view() const {
  if (m_store == nullptr) return {};
  const ExpertStore::State::Slot& slot = m_store->m_state->slotTable[m_slot];
#if defined(COLIBRI_DEBUG) || defined(COLIBRI_SANITIZED)
  if (slot.epoch != m_epoch || slot.pins == 0 || slot.state != ExpertStore::State::SlotState::kReady) {
    std::fprintf(stderr, "The slot of expert %d was given away under its lease.\n", m_expert);
    std::abort();
  }
#endif
  return slot.view;
}

}  // namespace colibri
