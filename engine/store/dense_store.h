#pragma once
// Weights that every token needs in their released form: resident in RAM, or the large ones streamed where that is too
// much.

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

class DenseStream;
struct DenseStreaming;

/// Resident weights are immutable after load and safe to share between threads.
class DenseStore {
public:
  struct Want {
    const TensorInfo* tensor = nullptr;
    MemoryTag tag = MemoryTag::kDense;
    bool converted = false;  ///< the caller copies it in another form once it is loaded
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
  /// As load(), but the tensors that streamsWhenShort() names are only given places; stream() brings their bytes.
  static Result<std::unique_ptr<DenseStore>> loadStreaming(const ShardSet& shards, std::span<const Want> wants,
                                                           ReadBackend& backend, DenseStreaming streaming,
                                                           std::shared_ptr<Ledger> ledger, const Progress& progress,
                                                           const Cancellation& cancellation);
  DenseStore();
  DenseStore(const DenseStore&) = delete;
  DenseStore& operator=(const DenseStore&) = delete;
  ~DenseStore();

  /// Bytes of a loaded tensor, or the place of a streamed one; nullptr when it was not wanted.
  [[nodiscard]] const std::byte* find(std::string_view name) const;
  /// nullptr when everything is resident. For one pass at a time.
  [[nodiscard]] DenseStream* stream() const { return m_stream.get(); }

private:
  std::unique_ptr<DenseStream> m_stream;
  std::vector<Buffer> m_buffers;
  std::unordered_map<std::string, const std::byte*> m_places;
};

}  // namespace colibri
