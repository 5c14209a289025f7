#include "store/engram_store.h"

#include "base/numeric_formats.h"
#include "store/engram_store_state.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace colibri {
namespace {

constexpr int kMostDim = 1 << 14;
constexpr std::uint32_t kMostShards = 1U << 20;
constexpr std::uint64_t kMostSlots = 1U << 30;
/// Resident scales are asked for in reads of this size, which the backend cuts up itself.
constexpr std::uint64_t kScaleReadBytes = std::uint64_t{64} << 20;
constexpr std::chrono::milliseconds kCancelCheck{50};
/// So that the drive's queue is full while rows are decoded.
constexpr std::size_t kRowsBetweenPolls = 16;

Status checkTable(const EngramTable& table) {
  bool fits = table.rows > 0 && table.rows < std::int64_t{1} << 40 && table.dim > 0 && table.dim <= kMostDim &&
              table.dim % kEngramScaleBlock == 0;
  if (fits) {
    const auto values = static_cast<std::uint64_t>(table.rows) * static_cast<std::uint64_t>(table.dim);
    fits = table.codes.bytes == values && table.scales.bytes == values / kEngramScaleBlock;
  }
  for (const Extent& extent : {table.codes, table.scales})
    fits = fits && extent.shard < kMostShards && extent.offset < std::uint64_t{1} << 55;
  if (fits) return Status::ok();
  return Status(Code::kInternal, "engram_place",
                "The place of the n-gram table of layer " + std::to_string(table.layer) + " does not hold together.");
}

const std::array<float, 256>& e4m3Values() {
  static const std::array<float, 256> values = [] {
    std::array<float, 256> all{};
    for (unsigned code = 0; code < all.size(); ++code) all[code] = e4m3ToFloat(static_cast<std::uint8_t>(code));
    return all;
  }();
  return values;
}

/// False when a value is no finite number.
bool decodeRow(const std::uint8_t* codes, const std::uint8_t* scales, int dim, float* out) {
  constexpr std::int32_t kMagnitude = 0x7fffffff;
  constexpr std::int32_t kInfinity = 0x7f800000;
  const std::array<float, 256>& values = e4m3Values();
  std::int32_t largest = 0;
  for (int first = 0; first < dim; first += kEngramScaleBlock) {
    const float scale = e8m0ToFloat(*scales++);  // the code for NaN gives an infinity, and that no finite product
    std::array<float, kEngramScaleBlock> block;
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = values[codes[static_cast<std::size_t>(first) + i]];
    // Apart from the look-ups, so that both loops are done several values at a time.
    for (std::size_t i = 0; i < block.size(); ++i) {
      block[i] *= scale;
      largest = std::max(largest, std::bit_cast<std::int32_t>(block[i]) & kMagnitude);
    }
    std::copy(block.begin(), block.end(), out + first);
  }
  return largest < kInfinity;
}

Status badValue(const EngramTable& table, std::int64_t row) {
  return Status(Code::kCheckpoint, "bad_value",
                "Row " + std::to_string(row) + " of the n-gram table of layer " + std::to_string(table.layer) +
                    " holds a value that is no finite number; the file is damaged. Download it again, or run 'coli "
                    "verify --level full'.");
}

}  // namespace

std::size_t EngramStore::State::blockBytes(int dim) {
  const std::size_t rows = engramBlockRows(dim);
  const std::size_t parts =
      mostSectors(static_cast<std::size_t>(dim)) + mostSectors(static_cast<std::size_t>(dim / kEngramScaleBlock));
  return rows * (engramRowBytes(dim) + parts * (sizeof(EngramPiece) + sizeof(std::uint32_t)));
}

EngramStore::EngramStore(std::unique_ptr<State> state) : m_state(std::move(state)) {}
EngramStore::~EngramStore() = default;

Result<std::unique_ptr<EngramStore>> EngramStore::create(std::vector<EngramTable> tables,
                                                         std::unique_ptr<ReadBackend> backend,
                                                         const EngramStoreOptions& options,
                                                         std::shared_ptr<Ledger> ledger,
                                                         const Cancellation& cancellation) {
  std::size_t rawBytes = 0;
  std::uint64_t block = 0;
  std::uint64_t all = 0;
  for (const EngramTable& table : tables) {
    COLIBRI_RETURN_IF_ERROR(checkTable(table));
    rawBytes = std::max(rawBytes, engramBlockRows(table.dim) * engramRowBytes(table.dim));
    block = std::max<std::uint64_t>(block, State::blockBytes(table.dim));
    all += mostSectors(table.codes.bytes) + (options.residentScales ? 0 : mostSectors(table.scales.bytes));
  }
  if (tables.empty()) return Status(Code::kInternal, "engram_place", "A model without n-gram tables needs no store.");
  const std::uint64_t forSectors = options.cacheBytes > block ? options.cacheBytes - block : 0;
  const std::uint64_t slots =
      std::clamp<std::uint64_t>(forSectors / (kEngramSectorBytes + State::kSlotBytes), 1, std::min(all, kMostSlots));
  COLIBRI_ASSIGN_OR_RETURN(Buffer raw, Buffer::allocate(rawBytes, MemoryTag::kEngramCache, ledger));
  COLIBRI_ASSIGN_OR_RETURN(Buffer memory,
                           Buffer::allocateUntouched(slots * kEngramSectorBytes, MemoryTag::kEngramCache, ledger));
  auto state = std::make_unique<State>(std::move(tables), std::move(backend), std::move(memory), std::move(raw),
                                       static_cast<std::size_t>(slots), std::move(ledger));
  if (options.residentScales) COLIBRI_RETURN_IF_ERROR(state->loadScales(cancellation));
  return std::unique_ptr<EngramStore>(new EngramStore(std::move(state)));
}

Status EngramStore::State::loadScales(const Cancellation& cancellation) {
  std::uint64_t asked = 0;
  for (const EngramTable& table : tables) {
    const std::uint64_t begin = alignDown(table.scales.offset);
    const std::uint64_t end = table.scales.offset + table.scales.bytes;
    COLIBRI_ASSIGN_OR_RETURN(Buffer buffer,
                             Buffer::allocateUntouched(alignUp(end) - begin, MemoryTag::kEngramCache, ledger));
    for (std::uint64_t at = begin; at < end; at += kScaleReadBytes) {
      ReadRequest request;
      request.file = table.scales.shard;
      request.offset = at;
      request.bytes = std::min(kScaleReadBytes, alignUp(end) - at);
      request.expected = std::min(kScaleReadBytes, end - at);
      request.target = buffer.data() + (at - begin);
      request.tag = requests.size();
      asked += request.bytes;
      requests.push_back(request);
    }
    scaleMemory.push_back(std::move(buffer));
  }
  reads.fetch_add(requests.size(), std::memory_order_relaxed);
  bytesRead.fetch_add(asked, std::memory_order_relaxed);
  COLIBRI_RETURN_IF_ERROR(backend->submit(requests));
  while (backend->inFlight() > 0) {
    if (cancellation.isCancelled())
      return Status(Code::kCancelled, "cancelled", "Cancelled while the scales of n-gram tables were being read.");
    (void)backend->waitReady(kCancelCheck);
    const std::size_t count = backend->poll(completions, false);
    for (std::size_t i = 0; i < count; ++i) {
      const ReadCompletion& completion = completions[i];
      COLIBRI_RETURN_IF_ERROR(completion.status);
      if (completion.bytes >= requests[completion.tag].expected) continue;
      return Status(Code::kIo, "short_read", "The scales of an n-gram table could not be read whole. Check the drive.",
                    {}, true);
    }
  }
  requests.clear();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Extent& place = tables[i].scales;
    scales[i] = {scaleMemory[i].as<const std::uint8_t>() + (place.offset - alignDown(place.offset)), place.bytes};
  }
  return Status::ok();
}

void EngramStore::request(int table, std::span<const std::int64_t> rows, ReadPriority priority) {
  State& state = *m_state;
  if (table < 0 || static_cast<std::size_t>(table) >= state.tables.size()) return;
  state.takeCompletions();
  state.request(table, rows, priority);
}

Status EngramStore::gather(int table, std::span<const std::int64_t> rows, float* out,
                           const Cancellation& cancellation) {
  State& state = *m_state;
  if (table < 0 || static_cast<std::size_t>(table) >= state.tables.size())
    return Status(Code::kInternal, "engram_row", "There is no n-gram table " + std::to_string(table) + ".");
  const EngramTable& place = state.tables[static_cast<std::size_t>(table)];
  for (const std::int64_t row : rows) {
    if (row >= 0 && row < place.rows) continue;
    return Status(Code::kInternal, "engram_row",
                  "Row " + std::to_string(row) + " of the n-gram table of layer " + std::to_string(place.layer) +
                      " does not exist; it has " + std::to_string(place.rows) + ".");
  }
  const std::size_t most = engramBlockRows(place.dim);
  for (std::size_t first = 0; first < rows.size(); first += most) {
    const auto block = rows.subspan(first, std::min(most, rows.size() - first));
    COLIBRI_RETURN_IF_ERROR(state.gatherRaw(table, block, cancellation));
    COLIBRI_RETURN_IF_ERROR(state.decode(table, block, out + first * static_cast<std::size_t>(place.dim)));
  }
  return Status::ok();
}

Status EngramStore::State::decode(int table, std::span<const std::int64_t> rows, float* out) {
  const EngramTable& place = tables[static_cast<std::size_t>(table)];
  const std::span<const std::uint8_t> resident = scales[static_cast<std::size_t>(table)];
  const auto dim = static_cast<std::size_t>(place.dim);
  const std::uint8_t* codes = raw.as<const std::uint8_t>();
  std::size_t done = 0;
  for (const std::int64_t row : rows) {
    if (++done % kRowsBetweenPolls == 0) takeCompletions();
    const std::uint8_t* rowScales =
        resident.empty() ? codes + dim : resident.data() + static_cast<std::uint64_t>(row) * (dim / kEngramScaleBlock);
    if (!decodeRow(codes, rowScales, place.dim, out)) return badValue(place, row);
    codes += engramRowBytes(place.dim);
    out += dim;
  }
  return Status::ok();
}

void EngramStore::poll() {
  m_state->takeCompletions();
}

EngramStoreStats EngramStore::stats() const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const State& state = *m_state;
  EngramStoreStats stats;
  stats.rowHits = state.rowHits.load(kRelaxed);
  stats.rows = state.rowsGathered.load(kRelaxed);
  stats.reads = state.reads.load(kRelaxed);
  stats.bytesRead = state.bytesRead.load(kRelaxed);
  stats.waitSeconds = static_cast<double>(state.waitNanoseconds.load(kRelaxed)) * 1e-9;
  return stats;
}

const std::vector<EngramTable>& EngramStore::tables() const {
  return m_state->tables;
}

ReadBackend& EngramStore::backend() {
  return *m_state->backend;
}

std::uint64_t EngramStore::sectors() const {
  return m_state->slots.size();
}

std::uint64_t EngramStore::bytesFor(const EngramConfig& config, std::uint64_t rowsPerTable, bool residentScales) {
  if (!config.present() || config.headDim < kEngramScaleBlock) return 0;
  double sectors = kEngramQueueDepth;  // those that arrive while the others stay
  const auto add = [&](std::int64_t rows, double rowBytes) {
    constexpr auto kSector = static_cast<double>(kEngramSectorBytes);
    const double whole = std::ceil(static_cast<double>(rows) * rowBytes / kSector) + 1;
    sectors += std::min(whole, std::ceil(static_cast<double>(rowsPerTable) * (1 + (rowBytes - 1) / kSector)));
  };
  for (const std::int64_t rows : config.rows) {
    add(rows, config.headDim);
    if (!residentScales) add(rows, static_cast<double>(config.headDim) / kEngramScaleBlock);
  }
  return bytesForSectors(config.headDim, static_cast<std::uint64_t>(sectors));
}

std::uint64_t EngramStore::bytesForSectors(int dim, std::uint64_t sectors) {
  return sectors * (kEngramSectorBytes + State::kSlotBytes) + State::blockBytes(dim);
}

std::uint64_t EngramStore::scaleBytes(const EngramConfig& config) {
  std::uint64_t bytes = 0;
  for (const std::int64_t rows : config.rows) {
    bytes += static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(config.headDim / kEngramScaleBlock) +
             2 * kReadAlignment;
  }
  return bytes;
}

}  // namespace colibri
