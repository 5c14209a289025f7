#pragma once
// A model's experts read through the real read path, in random order, into slots as the expert store has them.

#include "base/buffer.h"
#include "checkpoint/expert_layout.h"
#include "checkpoint/shard_set.h"
#include "io/read_backend.h"
#include "plan/read_loop.h"
#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace colibri {

/// Files on one drive that hold experts. `byShard`: by index of the shard set; empty where the folder has no copy.
struct ExpertFolder {
  std::filesystem::path path;
  std::vector<std::filesystem::path> byShard;
  bool isMirror = false;
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
};

/// The folders that a model's experts are read from: those of its shards, then the mirrors. Errors as findReplicas().
Result<std::vector<ExpertFolder>> expertFolders(const ShardSet& shards, const ExpertLayout& layout,
                                                const std::vector<std::filesystem::path>& mirrors);

class ExpertReads {
public:
  /// Opens the folder's files. kCheckpoint when it holds no whole expert; errors as openReadBackend() and kMemory.
  static Result<std::unique_ptr<ExpertReads>> open(const ExpertLayout& layout, const ExpertFolder& folder,
                                                   const ReadOptions& options);

  /// Reads experts until `enough` (keepReading()). The thread that calls has the backend for that time.
  Result<ReadRate> read(const std::function<bool(double seconds)>& enough, const Cancellation& cancellation);

  [[nodiscard]] FileAccess access() const { return m_backend->access(0); }
  [[nodiscard]] std::string io() const { return std::string(m_backend->name()); }
  /// Bytes of the longest single read that the backend makes for an expert.
  [[nodiscard]] std::uint64_t blockBytes() const { return m_blockBytes; }
  [[nodiscard]] std::size_t experts() const { return m_experts.size(); }

private:
  struct Window {
    std::uint32_t file = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t expected = 0;
  };
  using Expert = std::vector<Window>;
  ExpertReads() = default;

  std::vector<Expert> m_experts;  ///< in the order of reading
  std::size_t m_next = 0;
  std::uint64_t m_blockBytes = 0;
  std::uint64_t m_slotBytes = 0;
  std::size_t m_slots = 0;
  Buffer m_memory;  ///< before the backend, which writes into it until it is gone
  std::unique_ptr<ReadBackend> m_backend;
};

}  // namespace colibri
