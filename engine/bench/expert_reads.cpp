#include "bench/expert_reads.h"

#include "checkpoint/replicas.h"
#include "store/expert_store.h"

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <utility>

namespace colibri {
namespace {

std::uint64_t windowBytes(const Extent& extent) {
  return alignUp(extent.offset + extent.bytes) - alignDown(extent.offset);
}

/// Which shards hold experts at all.
std::vector<bool> expertShards(const ShardSet& shards, const ExpertLayout& layout) {
  std::vector<bool> holds(shards.shards().size(), false);
  for (int layer = 0; layer < layout.layers(); ++layer) {
    for (int expert = 0; expert < layout.experts(layer); ++expert) {
      for (const Extent& extent : layout.place(layer, expert).extents) holds[extent.shard] = true;
    }
  }
  return holds;
}

}  // namespace

std::vector<std::filesystem::path> ExpertFolder::files() const {
  std::vector<std::filesystem::path> files;
  std::copy_if(byShard.begin(), byShard.end(), std::back_inserter(files),
               [](const auto& file) { return !file.empty(); });
  return files;
}

Result<std::vector<ExpertFolder>> expertFolders(const ShardSet& shards, const ExpertLayout& layout,
                                                const std::vector<std::filesystem::path>& mirrors) {
  const std::vector<bool> holds = expertShards(shards, layout);
  std::vector<ExpertFolder> folders;
  const auto folderOf = [&](const std::filesystem::path& path, bool isMirror) -> ExpertFolder& {
    for (ExpertFolder& folder : folders) {
      if (folder.path == path && folder.isMirror == isMirror) return folder;
    }
    folders.push_back({path, std::vector<std::filesystem::path>(holds.size()), isMirror});
    return folders.back();
  };
  for (std::size_t shard = 0; shard < holds.size(); ++shard) {
    const std::filesystem::path& path = shards.shards()[shard].path;
    if (holds[shard]) folderOf(path.parent_path(), false).byShard[shard] = path;
  }
  if (mirrors.empty()) return folders;
  COLIBRI_ASSIGN_OR_RETURN(const ReplicaSet replicas, findReplicas(shards, mirrors));
  for (std::size_t shard = 0; shard < holds.size(); ++shard) {
    for (const Replica& replica : replicas.byShard[shard]) {
      if (holds[shard]) folderOf(mirrors[replica.mirror], true).byShard[shard] = replica.path;
    }
  }
  return folders;
}

Result<std::unique_ptr<ExpertReads>> ExpertReads::open(const ExpertLayout& layout, const ExpertFolder& folder,
                                                       const ReadOptions& options) {
  std::unique_ptr<ExpertReads> reads(new ExpertReads());
  std::vector<std::uint32_t> fileOf(folder.byShard.size(), 0);
  std::uint32_t count = 0;
  for (std::size_t shard = 0; shard < fileOf.size(); ++shard) {
    if (!folder.byShard[shard].empty()) fileOf[shard] = count++;
  }
  std::uint64_t fewestPieces = ~std::uint64_t{0};
  for (int layer = 0; layer < layout.layers(); ++layer) {
    for (int id = 0; id < layout.experts(layer); ++id) {
      Expert expert;
      std::uint64_t pieces = 0;
      for (const Extent& extent : layout.place(layer, id).extents) {
        if (folder.byShard[extent.shard].empty()) break;
        const std::uint64_t start = alignDown(extent.offset);
        const std::uint64_t bytes = windowBytes(extent);
        expert.push_back({fileOf[extent.shard], start, bytes, extent.offset + extent.bytes - start});
        pieces += (bytes + kReadPieceBytes - 1) / kReadPieceBytes;
        reads->m_blockBytes = std::max(reads->m_blockBytes, std::min(bytes, kReadPieceBytes));
      }
      if (expert.size() != layout.place(layer, id).extents.size() || expert.empty()) continue;
      fewestPieces = std::min(fewestPieces, pieces);
      reads->m_experts.push_back(std::move(expert));
    }
  }
  if (reads->m_experts.empty()) {
    return Status(Code::kCheckpoint, "no_experts", folder.path.string() + " holds no whole expert of this model.");
  }
  std::shuffle(reads->m_experts.begin(), reads->m_experts.end(), std::mt19937_64(1));
  // Enough experts that the queue never runs dry while one is being replaced.
  reads->m_slots = static_cast<std::size_t>(options.queueDepth) / fewestPieces + 2;
  reads->m_slotBytes = ExpertStore::slotBytes(layout);
  COLIBRI_ASSIGN_OR_RETURN(reads->m_memory, Buffer::allocateUntouched(reads->m_slots * reads->m_slotBytes,
                                                                      MemoryTag::kExpertCache, nullptr));
  for (std::size_t at = 0; at < reads->m_memory.size(); at += kReadAlignment) {
    reads->m_memory.data()[at] = std::byte{1};
  }
  const std::vector<std::filesystem::path> files = folder.files();
  COLIBRI_ASSIGN_OR_RETURN(reads->m_backend, openReadBackend(files, options));
  const std::array buffers{std::span(reads->m_memory.data(), reads->m_memory.size())};
  reads->m_backend->registerBuffers(buffers);
  return reads;
}

Result<ReadRate> ExpertReads::read(const std::function<bool(double)>& enough, const Cancellation& cancellation) {
  ReadLoop loop;
  loop.items = m_slots;
  loop.enough = enough;
  loop.next = [this](std::uint64_t place, std::vector<ReadRequest>& requests) {
    std::byte* target = m_memory.data() + place * m_slotBytes;
    for (const Window& window : m_experts[m_next++ % m_experts.size()]) {
      ReadRequest request{window.file, window.offset, window.bytes, window.expected, target, place};
      request.buffer = 0;
      requests.push_back(request);
      target += window.bytes;
    }
  };
  return keepReading(*m_backend, loop, cancellation);
}

}  // namespace colibri
