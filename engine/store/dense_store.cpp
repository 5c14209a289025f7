#include "store/dense_store.h"

#include "store/dense_streaming.h"
#include "store/weight_sample.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace colibri {
namespace {

constexpr std::uint64_t kTensorAlignment = 64;
constexpr std::uint64_t kChunkBytes = kReadPieceBytes;
constexpr std::size_t kChunksInFlight = 8;
// Reading over a gap of this size costs less than starting another read.
constexpr std::uint64_t kGapBytes = std::uint64_t{128} << 10;
constexpr std::chrono::milliseconds kCancelCheck{50};

struct Target {
  const TensorInfo* tensor = nullptr;
  std::byte* data = nullptr;
};

/// A window of one shard, at most kChunkBytes, and the targets [first, last) that it touches.
struct Chunk {
  std::uint32_t shard = 0;
  std::uint64_t start = 0;  ///< aligned down
  std::uint64_t end = 0;    ///< last byte wanted + 1
  std::size_t firstTarget = 0;
  std::size_t lastTarget = 0;
};

/// Cuts the sorted targets into windows that follow each other in the file.
std::vector<Chunk> planChunks(std::span<const Target> targets) {
  std::vector<Chunk> chunks;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const TensorInfo& tensor = *targets[i].tensor;
    const std::uint64_t end = tensor.offset + tensor.bytes;
    if (tensor.bytes == 0) continue;
    std::uint64_t next = tensor.offset;
    if (!chunks.empty() && chunks.back().shard == tensor.shard && next <= chunks.back().end + kGapBytes) {
      Chunk& open = chunks.back();
      const std::uint64_t limit = open.start + kChunkBytes;
      if (next < limit) {
        open.end = std::max(open.end, std::min(end, limit));
        open.lastTarget = i + 1;
        next = std::max(next, open.end);
      }
    }
    while (next < end) {
      const std::uint64_t start = alignDown(next);
      chunks.push_back({tensor.shard, start, std::min(end, start + kChunkBytes), i, i + 1});
      next = chunks.back().end;
    }
  }
  return chunks;
}

/// Copies what a finished window holds of its targets.
void copyOut(const Chunk& chunk, std::span<const Target> targets, const std::byte* window) {
  for (std::size_t i = chunk.firstTarget; i < chunk.lastTarget; ++i) {
    const TensorInfo& tensor = *targets[i].tensor;
    const std::uint64_t from = std::max(tensor.offset, chunk.start);
    const std::uint64_t to = std::min(tensor.offset + tensor.bytes, chunk.end);
    if (from < to) std::memcpy(targets[i].data + (from - tensor.offset), window + (from - chunk.start), to - from);
  }
}

/// Moves all chunks through a ring of windows. Windows are aligned for direct reads; tensors are not, hence the copy.
class ChunkReader {
public:
  ChunkReader(std::span<const Chunk> chunks, std::span<const Target> targets, ReadBackend& backend,
              const Buffer& windows)
      : m_chunks(chunks), m_targets(targets), m_backend(backend), m_windows(windows.data()) {
    for (std::size_t window = windows.size() / kChunkBytes; window-- > 0;) m_freeWindows.push_back(window);
  }

  Status readAll(const DenseStore::Progress& progress, std::uint64_t totalBytes, const Cancellation& cancellation) {
    const auto unlessCancelled = [&] {
      return cancellation.isCancelled()
                 ? Status(Code::kCancelled, "cancelled", "Cancelled while the model was loading.")
                 : Status::ok();
    };
    Status status = unlessCancelled();
    std::uint64_t done = 0;
    while (status.isOk() && (m_next < m_chunks.size() || m_inFlight > 0)) {
      status = submitMore();
      if (!status.isOk()) break;
      (void)m_backend.waitReady(kCancelCheck);
      status = takeFinished(done);
      if (progress && status.isOk()) progress(done, totalBytes);
      // Also behind the last read: a fast drive may finish before the wish to stop is seen.
      if (status.isOk()) status = unlessCancelled();
    }
    drain();
    return status;
  }

private:
  Status submitMore() {
    std::array<ReadRequest, kChunksInFlight> requests;
    std::size_t count = 0;
    while (m_next < m_chunks.size() && !m_freeWindows.empty()) {
      const Chunk& chunk = m_chunks[m_next];
      const std::size_t window = m_freeWindows.back();
      m_freeWindows.pop_back();
      m_chunkOf[window] = m_next++;
      requests[count++] = {chunk.shard,
                           chunk.start,
                           alignUp(chunk.end) - chunk.start,
                           chunk.end - chunk.start,
                           m_windows + window * kChunkBytes,
                           window};
    }
    if (count == 0) return Status::ok();
    COLIBRI_RETURN_IF_ERROR(m_backend.submit(std::span(requests).first(count)));
    m_inFlight += count;
    return Status::ok();
  }

  Status takeFinished(std::uint64_t& done) {
    std::array<ReadCompletion, kChunksInFlight> completions;
    const std::size_t count = m_backend.poll(completions, false);
    m_inFlight -= count;
    Status status;
    for (std::size_t i = 0; i < count; ++i) {
      ReadCompletion& completion = completions[i];
      const Chunk& chunk = m_chunks[m_chunkOf[completion.tag]];
      if (completion.status.isOk() && completion.bytes < chunk.end - chunk.start) {
        completion.status =
            Status(Code::kIo, "short_read", "A read of the weights ended early. Check the drive.", {}, true);
      }
      if (completion.status.isOk()) {
        copyOut(chunk, m_targets, m_windows + completion.tag * kChunkBytes);
        done += chunk.end - chunk.start;
      } else if (status.isOk()) {
        status = std::move(completion.status);
      }
      m_freeWindows.push_back(completion.tag);
    }
    return status;
  }

  /// The windows must outlive every read into them.
  void drain() {
    std::array<ReadCompletion, kChunksInFlight> completions;
    while (m_inFlight > 0) m_inFlight -= m_backend.poll(completions, true);
  }

  std::span<const Chunk> m_chunks;
  std::span<const Target> m_targets;
  ReadBackend& m_backend;
  std::byte* m_windows;
  std::vector<std::size_t> m_freeWindows;
  std::array<std::size_t, kChunksInFlight> m_chunkOf{};
  std::size_t m_next = 0;
  std::size_t m_inFlight = 0;
};

bool byPlace(const DenseStore::Want& a, const DenseStore::Want& b) {
  return std::pair(a.tensor->shard, a.tensor->offset) < std::pair(b.tensor->shard, b.tensor->offset);
}

}  // namespace

Result<std::unique_ptr<DenseStore>> DenseStore::load(const ShardSet& shards, std::span<const Want> wants,
                                                     ReadBackend& backend, std::shared_ptr<Ledger> ledger,
                                                     const Progress& progress, const Cancellation& cancellation) {
  // Neighbours in the file become neighbours in memory, within their tag.
  std::vector<Want> sorted(wants.begin(), wants.end());
  std::sort(sorted.begin(), sorted.end(), byPlace);
  std::array<std::uint64_t, static_cast<std::size_t>(MemoryTag::kCount)> sizes{};
  std::vector<std::uint64_t> places;
  for (const Want& want : sorted) {
    if (want.tensor->shard >= shards.shards().size()) {
      return Status(Code::kInternal, "no_such_shard",
                    "Tensor " + want.tensor->name + " lies in no shard of this model.");
    }
    std::uint64_t& size = sizes[static_cast<std::size_t>(want.tag)];
    places.push_back(size);
    // At least one unit, so that even an empty tensor has a place of its own.
    const std::uint64_t bytes =
        std::max(kTensorAlignment, (want.tensor->bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment);
    if (bytes < want.tensor->bytes || bytes > std::numeric_limits<std::size_t>::max() - size) {
      return Status(Code::kMemory, "out_of_memory", "The weights are larger than this system can address.");
    }
    size += bytes;
  }

  auto store = std::make_unique<DenseStore>();
  std::array<std::byte*, sizes.size()> bases{};
  for (std::size_t tag = 0; tag < sizes.size(); ++tag) {
    if (sizes[tag] == 0) continue;
    COLIBRI_ASSIGN_OR_RETURN(Buffer buffer, Buffer::allocateUntouched(sizes[tag], static_cast<MemoryTag>(tag), ledger));
    bases[tag] = buffer.data();
    store->m_buffers.push_back(std::move(buffer));
  }
  std::vector<Target> targets;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    targets.push_back({sorted[i].tensor, bases[static_cast<std::size_t>(sorted[i].tag)] + places[i]});
    store->m_places.insert_or_assign(sorted[i].tensor->name, targets.back().data);
  }

  const std::vector<Chunk> chunks = planChunks(targets);
  std::uint64_t totalBytes = 0;
  for (const Chunk& chunk : chunks) totalBytes += chunk.end - chunk.start;
  {
    COLIBRI_ASSIGN_OR_RETURN(const Buffer windows,
                             Buffer::allocateUntouched(std::min(chunks.size(), kChunksInFlight) * kChunkBytes,
                                                       MemoryTag::kScratch, std::move(ledger)));
    ChunkReader reader(chunks, targets, backend, windows);
    COLIBRI_RETURN_IF_ERROR(reader.readAll(progress, totalBytes, cancellation));
  }
  for (const Target& target : targets) COLIBRI_RETURN_IF_ERROR(checkWeightSample(*target.tensor, target.data));
  return store;
}

Result<std::unique_ptr<DenseStore>> DenseStore::loadStreaming(const ShardSet& shards, std::span<const Want> wants,
                                                              ReadBackend& backend, DenseStreaming streaming,
                                                              std::shared_ptr<Ledger> ledger, const Progress& progress,
                                                              const Cancellation& cancellation) {
  std::vector<Want> resident;
  std::vector<Want> streamed;
  for (const Want& want : wants) {
    (streamsWhenShort(want, streaming.threshold) ? streamed : resident).push_back(want);
  }
  COLIBRI_ASSIGN_OR_RETURN(std::unique_ptr<DenseStore> store,
                           load(shards, resident, backend, ledger, progress, cancellation));
  COLIBRI_ASSIGN_OR_RETURN(store->m_stream,
                           DenseStream::create(streamed, std::move(streaming.backend), std::move(ledger)));
  store->m_stream->forEachPlace(
      [&](const std::string& name, const std::byte* place) { store->m_places.insert_or_assign(name, place); });
  return store;
}

DenseStore::DenseStore() = default;
DenseStore::~DenseStore() = default;

const std::byte* DenseStore::find(std::string_view name) const {
  const auto place = m_places.find(std::string(name));
  return place == m_places.end() ? nullptr : place->second;
}

}  // namespace colibri
