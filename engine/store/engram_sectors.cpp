// Slots, reads and the rows that wait for them.

#include "store/engram_store_state.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace colibri {
namespace {

constexpr std::size_t kCompletionsAtOnce = 64;
/// Sectors that request() looks at before it begins to read.
constexpr std::size_t kStartedAtOnce = 256;
/// Rows that are looked at before the drive is looked at again.
constexpr std::size_t kRowsBetweenPolls = 32;
/// Reads in flight up to which those that were certain are hurried.
constexpr std::size_t kMostToPromote = 256;
/// Half of what a user may wait for a cancellation.
constexpr std::chrono::milliseconds kCancelCheck{50};
/// A read's tag: its first slot below, the number of its sectors above.
constexpr unsigned kCountShift = 32;
/// Memory that is registered with the system as one: a cache that fills slowly takes its pages slowly.
constexpr std::uint64_t kRegisteredBytes = std::uint64_t{2} << 20;
constexpr std::uint64_t kRegisteredSectors = kRegisteredBytes / kEngramSectorBytes;

std::vector<std::span<std::byte>> registered(const Buffer& memory) {
  std::vector<std::span<std::byte>> parts;
  for (std::size_t at = 0; at < memory.size(); at += kRegisteredBytes)
    parts.emplace_back(memory.data() + at, std::min<std::size_t>(kRegisteredBytes, memory.size() - at));
  return parts;
}

}  // namespace

EngramStore::State::State(std::vector<EngramTable> engramTables, std::unique_ptr<ReadBackend> readBackend,
                          Buffer sectorMemory, Buffer rawRows, std::size_t slotCount,
                          std::shared_ptr<Ledger> sharedLedger)
    : tables(std::move(engramTables)),
      ledger(std::move(sharedLedger)),
      memory(std::move(sectorMemory)),
      raw(std::move(rawRows)),
      backend(std::move(readBackend)),
      scales(tables.size()),
      slots(slotCount),
      index(slotCount),
      policy(slotCount),
      completions(kCompletionsAtOnce) {
  emptySlots.reserve(slotCount);
  for (auto slot = static_cast<std::uint32_t>(slotCount); slot-- > 0;) emptySlots.push_back(slot);
  std::size_t block = 0;
  for (const EngramTable& table : tables) block = std::max(block, blockBytes(table.dim));
  charged = static_cast<std::int64_t>(slotCount * kSlotBytes + block - raw.size());
  if (ledger) ledger->add(MemoryTag::kEngramCache, charged);
  backend->registerBuffers(registered(memory));
}

EngramStore::State::~State() {
  if (ledger) ledger->add(MemoryTag::kEngramCache, -charged);
}

std::uint64_t EngramStore::State::expectedBytes(std::uint32_t shard, std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t last = begin;
  for (const EngramTable& table : tables) {
    for (const Extent& extent : {table.codes, table.scales}) {
      if (extent.shard != shard || extent.offset >= end) continue;
      last = std::max(last, std::min(extent.offset + extent.bytes, end));
    }
  }
  return last - begin;
}

std::uint32_t EngramStore::State::takeSlot(ReadPriority priority) {
  if (!emptySlots.empty()) {
    const std::uint32_t slot = emptySlots.back();
    emptySlots.pop_back();
    return slot;
  }
  auto victim = policy.victim([&](std::size_t i) { return slots[i].state == SlotState::kReady && !isKept(slots[i]); });
  // What is kept for later goes only for what is needed now.
  if (!victim && priority == ReadPriority::kDemand)
    victim = policy.victim([&](std::size_t i) { return slots[i].state == SlotState::kReady; });
  if (!victim) return kNone;
  const auto slot = static_cast<std::uint32_t>(*victim);
  index.erase(slots[slot].key);
  slots[slot].state = SlotState::kEmpty;
  return slot;
}

std::uint32_t EngramStore::State::startSector(std::uint64_t key, ReadPriority priority) {
  const std::uint32_t slot = takeSlot(priority);
  if (slot == kNone) return kNone;
  const auto shard = static_cast<std::uint32_t>(key >> kSectorBits);
  const std::uint64_t offset = (key & ((std::uint64_t{1} << kSectorBits) - 1)) * kEngramSectorBytes;
  // A neighbour whose slot follows, too, is the same read.
  if (!requests.empty() && requests.back().file == shard && requests.back().offset + requests.back().bytes == offset &&
      requests.back().target + requests.back().bytes == sectorMemory(slot) && slot % kRegisteredSectors != 0) {
    requests.back().bytes += kEngramSectorBytes;
    requests.back().tag += std::uint64_t{1} << kCountShift;
  } else {
    ReadRequest request;
    request.file = shard;
    request.offset = offset;
    request.bytes = kEngramSectorBytes;
    request.target = sectorMemory(slot);
    request.tag = std::uint64_t{1} << kCountShift | slot;
    request.priority = priority;
    request.buffer = static_cast<std::uint32_t>(slot / kRegisteredSectors);
    requests.push_back(request);
  }
  slots[slot] = Slot();
  slots[slot].key = key;
  slots[slot].firstOfRead = static_cast<std::uint32_t>(requests.back().tag);
  slots[slot].state = SlotState::kLoading;
  slots[slot].startedIn = gathers;
  slots[slot].priority = priority;
  index.insert(key, slot);
  return slot;
}

void EngramStore::State::submitRequests() {
  if (requests.empty()) return;
  std::uint64_t asked = 0;
  for (ReadRequest& request : requests) {
    request.expected = expectedBytes(request.file, request.offset, request.offset + request.bytes);
    asked += request.bytes;
    const auto first = static_cast<std::uint32_t>(request.tag);
    slots[first].sectorsOfRead = static_cast<std::uint32_t>(request.tag >> kCountShift);
  }
  readsInFlight += requests.size();
  reads.fetch_add(requests.size(), std::memory_order_relaxed);
  bytesRead.fetch_add(asked, std::memory_order_relaxed);
  const Status status = backend->submit(requests);
  if (!status.isOk()) {
    for (const ReadRequest& request : requests) endRead({request.tag, status, 0, Clock::now()});
  }
  requests.clear();
}

void EngramStore::State::promote(std::uint32_t at, ReadPriority priority) {
  const Slot& slot = slots[at];
  if (slot.state != SlotState::kLoading || slot.priority <= priority) return;
  // The backend looks for the read among all that wait. In a long queue what was certain is at the front in time
  // anyway.
  if (slot.priority == ReadPriority::kCertain && readsInFlight > kMostToPromote) return;
  const Slot& first = slots[slot.firstOfRead];
  backend->promote(std::uint64_t{first.sectorsOfRead} << kCountShift | slot.firstOfRead, priority);
  for (std::uint32_t i = 0; i < first.sectorsOfRead; ++i) slots[slot.firstOfRead + i].priority = priority;
}

void EngramStore::State::takeCompletions() {
  std::size_t count = completions.size();
  while (readsInFlight > 0 && count == completions.size()) {
    count = backend->poll(completions, false);
    for (std::size_t i = 0; i < count; ++i) endRead(completions[i]);
  }
}

void EngramStore::State::endRead(const ReadCompletion& completion) {
  --readsInFlight;
  const auto first = static_cast<std::uint32_t>(completion.tag);
  const auto count = static_cast<std::uint32_t>(completion.tag >> kCountShift);
  const std::uint64_t key = slots[first].key;
  const auto shard = static_cast<std::uint32_t>(key >> kSectorBits);
  const std::uint64_t begin = (key & ((std::uint64_t{1} << kSectorBits) - 1)) * kEngramSectorBytes;
  const std::uint64_t expected = expectedBytes(shard, begin, begin + count * kEngramSectorBytes);
  Status status = completion.status;
  if (status.isOk() && completion.bytes < expected) {
    status = Status(Code::kIo, "short_read",
                    "A read at byte " + std::to_string(begin) + " of shard " + std::to_string(shard) + " brought " +
                        std::to_string(completion.bytes) + " of " + std::to_string(expected) +
                        " bytes. Check the drive, then try again.",
                    {}, true);
  }
  for (std::uint32_t slot = first; slot < first + count; ++slot) endSector(slot, status);
}

void EngramStore::State::endSector(std::uint32_t at, const Status& status) {
  Slot& slot = slots[at];
  const std::uint32_t waiting = std::exchange(slot.pieces, kNone);
  if (waiting != kNone) --sectorsAwaited;
  if (!status.isOk()) {
    index.erase(slot.key);
    slot.state = SlotState::kEmpty;
    emptySlots.push_back(at);
    // A read that was begun before this gather() fails in silence: what waits for it is read again.
    if (waiting == kNone) return;
    if (slot.startedIn != gathers) {
      for (std::uint32_t piece = waiting; piece != kNone; piece = pieces[piece].next) missingPieces.push_back(piece);
    } else if (failure.isOk()) {
      failure = status;
    }
    return;
  }
  slot.state = SlotState::kReady;
  policy.filled(at);
  for (std::uint32_t piece = waiting; piece != kNone; piece = pieces[piece].next) copyPiece(at, pieces[piece]);
}

void EngramStore::State::request(int table, std::span<const std::int64_t> rows, ReadPriority priority) {
  // Started a few at a time, so that the rows named first, which are gathered first, have the room that there is.
  const std::size_t most = std::min(kStartedAtOnce, slots.size());
  const EngramTable& place = tables[static_cast<std::size_t>(table)];
  bool hasRoom = true;
  std::size_t seen = 0;
  for (const std::int64_t row : rows) {
    // A long list takes its time, and the drive's queue shall be full meanwhile.
    if (++seen % kRowsBetweenPolls == 0) takeCompletions();
    if (row < 0 || row >= place.rows) continue;
    eachPart(table, row, [&](const EngramPiece& part) {
      const std::uint32_t at = index.find(part.key);
      if (at == kNone) {
        wanted.push_back(part.key);
        return;
      }
      slots[at].isKept = true;
      slots[at].keptAt = touches;
      promote(at, priority);
    });
    if (wanted.size() < most) continue;
    hasRoom = startWanted(priority);
    if (!hasRoom) break;
  }
  if (hasRoom) startWanted(priority);
  submitRequests();
}

bool EngramStore::State::startWanted(ReadPriority priority) {
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  bool hasRoom = true;
  for (const std::uint64_t key : wanted) {
    const std::uint32_t at = startSector(key, priority);
    hasRoom = at != kNone;
    if (!hasRoom) break;
    slots[at].isAhead = true;
    slots[at].isKept = true;
    slots[at].keptAt = touches;
  }
  wanted.clear();
  return hasRoom;
}

Status EngramStore::State::gatherRaw(int table, std::span<const std::int64_t> rows, const Cancellation& cancellation) {
  takeCompletions();
  ++gathers;
  placePieces(table, rows);
  Status status;
  Clock::duration waited{};
  while (true) {
    startMissing();
    if (!failure.isOk()) {
      status =
          failure.within("The n-gram table of layer " + std::to_string(tables[static_cast<std::size_t>(table)].layer));
      break;
    }
    if (sectorsAwaited == 0 && firstMissing == missingPieces.size()) break;
    if (cancellation.isCancelled()) {
      status = Status(Code::kCancelled, "cancelled", "Cancelled while n-gram rows were being read.");
      break;
    }
    const auto start = Clock::now();
    (void)backend->waitReady(kCancelCheck);
    waited += Clock::now() - start;
    takeCompletions();
  }
  waitNanoseconds.fetch_add(std::chrono::duration_cast<std::chrono::nanoseconds>(waited).count(),
                            std::memory_order_relaxed);
  detachAll();
  if (!status.isOk()) return status;
  const auto missed = static_cast<std::size_t>(std::count(rowMissed.begin(), rowMissed.end(), true));
  rowsGathered.fetch_add(rows.size(), std::memory_order_relaxed);
  rowHits.fetch_add(rows.size() - missed, std::memory_order_relaxed);
  return status;
}

void EngramStore::State::placePieces(int table, std::span<const std::int64_t> rows) {
  const std::size_t rowBytes = engramRowBytes(tables[static_cast<std::size_t>(table)].dim);
  rowMissed.assign(rows.size(), false);
  // What is here is copied before a slot is given up for the rest.
  for (std::size_t row = 0; row < rows.size(); ++row) {
    eachPart(table, rows[row], [&](EngramPiece part) {
      part.to += static_cast<std::uint32_t>(row * rowBytes);
      part.row = static_cast<std::uint32_t>(row);
      ++touches;
      const std::uint32_t at = index.find(part.key);
      if (at != kNone) meet(at, part.row);
      if (at != kNone && slots[at].state == SlotState::kReady) {
        copyPiece(at, part);
        return;
      }
      const auto piece = static_cast<std::uint32_t>(pieces.size());
      pieces.push_back(part);
      if (at == kNone) {
        missingPieces.push_back(piece);
      } else {
        attach(at, piece);
        promote(at, ReadPriority::kDemand);
      }
    });
  }
  std::sort(missingPieces.begin(), missingPieces.end(), [this](std::uint32_t a, std::uint32_t b) {
    return pieces[a].key != pieces[b].key ? pieces[a].key < pieces[b].key : a < b;
  });
}

void EngramStore::State::startMissing() {
  while (firstMissing < missingPieces.size()) {
    const EngramPiece& first = pieces[missingPieces[firstMissing]];
    const std::uint32_t at = startSector(first.key, ReadPriority::kDemand);
    if (at == kNone) break;
    // One read is one row's miss, however many rows lie in the sector.
    rowMissed[first.row] = true;
    const std::uint64_t key = first.key;
    for (; firstMissing < missingPieces.size() && pieces[missingPieces[firstMissing]].key == key; ++firstMissing)
      attach(at, missingPieces[firstMissing]);
  }
  submitRequests();
}

void EngramStore::State::meet(std::uint32_t at, std::uint32_t row) {
  Slot& slot = slots[at];
  if (slot.isAhead) {
    rowMissed[row] = true;
  } else if (slot.state == SlotState::kReady) {
    policy.used(at);
  }
  slot.isAhead = false;
  slot.isKept = false;
}

void EngramStore::State::attach(std::uint32_t at, std::uint32_t piece) {
  if (slots[at].pieces == kNone) {
    ++sectorsAwaited;
    waitingSlots.push_back(at);
  }
  pieces[piece].next = std::exchange(slots[at].pieces, piece);
}

void EngramStore::State::copyPiece(std::uint32_t at, const EngramPiece& piece) const {
  std::memcpy(raw.data() + piece.to, sectorMemory(at) + piece.from, piece.bytes);
}

void EngramStore::State::detachAll() {
  for (const std::uint32_t at : waitingSlots) slots[at].pieces = kNone;
  waitingSlots.clear();
  sectorsAwaited = 0;
  pieces.clear();
  missingPieces.clear();
  firstMissing = 0;
  failure = Status();
}

}  // namespace colibri
