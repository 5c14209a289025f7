#pragma once
// Weights that every token needs, resident in RAM in their released form.

#include "base/buffer.h"
#include "checkpoint/shard_set.h"
#include "io/read_backend.h"
#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace colibri {

/// Immutable after load; safe to share between threads.
class DenseStore {
public:
  struct Want {
    const TensorInfo* tensor = nullptr;
    MemoryTag tag = MemoryTag::kDense;
  };
  using Progress = std::function<void(std::uint64_t doneBytes, std::uint64_t totalBytes)>;

  /// Reads all wanted tensors (each 64-byte aligned, one buffer a tag) through `backend`, whose files are the set's
  /// shards in their order and which has no other reads in flight. Neighbours in a file are read together, in file
  /// order. Values are checked on a sample: kCheckpoint "bad_value" names tensor and index of a NaN. Other errors:
  /// kMemory, kIo, kCancelled (within 100 ms or the reads in flight). `progress` (may be empty) is called on this
  /// thread.
  static Result<std::unique_ptr<DenseStore>> load(const ShardSet& shards, std::span<const Want> wants,
                                                  ReadBackend& backend, std::shared_ptr<Ledger> ledger,
                                                  const Progress& progress, const Cancellation& cancellation);

  /// Bytes of a loaded tensor; nullptr when it was not wanted.
  [[nodiscard]] const std::byte* find(std::string_view name) const;

private:
  std::vector<Buffer> m_buffers;
  std::unordered_map<std::string, const std::byte*> m_places;
};

}  // namespace colibri
