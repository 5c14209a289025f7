#pragma once
// Rows of the n-gram tables, read from disk as they are asked for. The tables are far larger than memory, and a row is
// a few hundred bytes at a place that a hash chose, so what counts is that many small reads are under way at once.

#include "base/ledger.h"
#include "checkpoint/model_config.h"
#include "checkpoint/shard_set.h"
#include "checkpoint/tensor.h"
#include "io/read_backend.h"
#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace colibri {

/// What is read and kept at once.
inline constexpr std::uint64_t kEngramSectorBytes = kReadAlignment;
/// Reads in flight that one token's rows fill.
inline constexpr int kEngramQueueDepth = 64;
/// Values that share a scale.
inline constexpr int kEngramScaleBlock = 32;

/// Where one table lies in the files.
struct EngramTable {
  int layer = 0;
  std::int64_t rows = 0;
  int dim = 0;    ///< values a row, a multiple of kEngramScaleBlock
  Extent codes;   ///< e4m3 [rows][dim]
  Extent scales;  ///< e8m0 [rows][dim / kEngramScaleBlock]
};

/// The tables of all layers that have one, in the order of EngramConfig::layers. kCheckpoint "tensor_missing",
/// "tensor_dtype" or "tensor_shape".
Result<std::vector<EngramTable>> engramTables(const ModelConfig& config, const ShardSet& shards);

struct EngramStoreOptions {
  std::uint64_t cacheBytes = 0;  ///< memory of the sector cache; one sector is always made
  bool residentScales = false;   ///< all scales are loaded at create(), besides cacheBytes: half as many reads later
};

struct EngramStoreStats {
  std::uint64_t rows = 0;       ///< gathered
  std::uint64_t rowHits = 0;    ///< of those, without a read of their own, ahead or not
  std::uint64_t reads = 0;      ///< read calls
  std::uint64_t bytesRead = 0;  ///< what these asked of the files
  double waitSeconds = 0;       ///< time that gather() waited for reads
};

/// One owner thread makes all calls; stats() may be called by any.
class EngramStore {
public:
  /// `backend` files are the shards that the tables' extents name, and only this store uses it. Cancellation ends the
  /// loading of resident scales. kInternal for tables that do not hold together, kMemory, kIo, kCancelled.
  static Result<std::unique_ptr<EngramStore>> create(std::vector<EngramTable> tables,
                                                     std::unique_ptr<ReadBackend> backend,
                                                     const EngramStoreOptions& options, std::shared_ptr<Ledger> ledger,
                                                     const Cancellation& cancellation = {});
  EngramStore(const EngramStore&) = delete;
  EngramStore& operator=(const EngramStore&) = delete;
  ~EngramStore();

  /// Begins to read what of these rows is not here, each sector once, neighbours together. Never blocks. What was asked
  /// for stays until it is gathered; where the cache has no room for more, the rest is left to gather(). Rows outside
  /// the table are left out.
  void request(int table, std::span<const std::int64_t> rows, ReadPriority priority);
  /// Values of the rows as fp32, code times scale (exact), to out[rows.size()][dim]. Rows may repeat. What is missing
  /// is read, all of it at once as far as the cache goes, then in waves: the same bits with any cache. kInternal for a
  /// row outside the table, before anything else happens; kIo names file and offset; kCheckpoint "bad_value" for a row
  /// that holds a NaN or an infinite product; kCancelled within 100 ms. After an error `out` is undefined and the store
  /// as usable as before.
  Status gather(int table, std::span<const std::int64_t> rows, float* out, const Cancellation& cancellation);
  /// Takes finished reads and keeps the drive's queue full without waiting. Cheap; for long computations.
  void poll();

  [[nodiscard]] EngramStoreStats stats() const;
  [[nodiscard]] const std::vector<EngramTable>& tables() const;
  [[nodiscard]] ReadBackend& backend();
  /// Sectors that the cache can hold.
  [[nodiscard]] std::uint64_t sectors() const;

  /// EngramStoreOptions::cacheBytes at which about `rowsPerTable` rows of each table stay: nearly every row lies in a
  /// sector of its own, and so do its scales where they are not resident. Never more than whole tables take.
  [[nodiscard]] static std::uint64_t bytesFor(const EngramConfig& config, std::uint64_t rowsPerTable,
                                              bool residentScales = false);
  /// EngramStoreOptions::cacheBytes for so many sectors, with rows of `dim` values.
  [[nodiscard]] static std::uint64_t bytesForSectors(int dim, std::uint64_t sectors);
  /// Memory of all scales when they are resident.
  [[nodiscard]] static std::uint64_t scaleBytes(const EngramConfig& config);

private:
  struct State;
  explicit EngramStore(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

}  // namespace colibri
