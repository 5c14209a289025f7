#include "bench/engram_bench.h"

#include "bench/comparison.h"
#include "bench/read_ceiling.h"
#include "checkpoint/model_config.h"
#include "checkpoint/shard_set.h"
#include "store/engram_store.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <utility>

namespace colibri {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Rows of one gather(), as many as a short block of a prompt asks for.
constexpr std::size_t kRowsAtOnce = 96;
/// gather() calls that rows are requested ahead for.
constexpr std::size_t kBatchesAhead = 3;
constexpr std::uint64_t kSectors = 8192;

/// Keeps asking a store for random rows of one table.
class RowReads {
public:
  RowReads(EngramStore& store, int table)
      : m_store(store), m_table(table), m_rowOf(0, store.tables()[static_cast<std::size_t>(table)].rows - 1) {
    const auto dim = static_cast<std::size_t>(store.tables()[static_cast<std::size_t>(table)].dim);
    m_values.resize(kRowsAtOnce * dim);
    for (std::vector<std::int64_t>& batch : m_batches) batch.resize(kRowsAtOnce);
  }

  /// Reads a second over `seconds`, which begin when all that is asked for ahead is under way.
  Result<double> measure(double seconds, const Cancellation& cancellation) {
    for (std::size_t i = 0; i < kBatchesAhead; ++i) ask();
    COLIBRI_RETURN_IF_ERROR(step(cancellation));
    const EngramStoreStats before = m_store.stats();
    const auto start = Clock::now();
    double elapsed = 0;
    do {
      COLIBRI_RETURN_IF_ERROR(step(cancellation));
      elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    } while (elapsed < seconds);
    const EngramStoreStats after = m_store.stats();
    m_rowRates.push_back(static_cast<double>(after.rows - before.rows) / elapsed);
    // The next window begins with an idle drive, as the ceiling's does.
    for (std::size_t i = 0; i < kBatchesAhead; ++i) COLIBRI_RETURN_IF_ERROR(take(cancellation));
    return static_cast<double>(after.reads - before.reads) / elapsed;
  }

  [[nodiscard]] const std::vector<double>& rowRates() const { return m_rowRates; }

private:
  void ask() {
    std::vector<std::int64_t>& batch = m_batches[m_asked++ % m_batches.size()];
    for (std::int64_t& row : batch) row = m_rowOf(m_random);
    m_store.request(m_table, batch, ReadPriority::kCertain);
  }
  Status take(const Cancellation& cancellation) {
    return m_store.gather(m_table, m_batches[m_taken++ % m_batches.size()], m_values.data(), cancellation);
  }
  Status step(const Cancellation& cancellation) {
    ask();
    return take(cancellation);
  }

  EngramStore& m_store;
  int m_table;
  std::uniform_int_distribution<std::int64_t> m_rowOf;
  std::mt19937_64 m_random{1};
  std::vector<std::vector<std::int64_t>> m_batches = std::vector<std::vector<std::int64_t>>(kBatchesAhead + 1);
  std::size_t m_asked = 0;
  std::size_t m_taken = 0;
  std::vector<float> m_values;
  std::vector<double> m_rowRates;
};

std::vector<fs::path> filesOf(const EngramTable& table, const std::vector<fs::path>& paths) {
  std::vector<fs::path> files{paths[table.codes.shard]};
  if (table.scales.shard != table.codes.shard) files.push_back(paths[table.scales.shard]);
  return files;
}

Result<EngramFigure> compareTable(EngramStore& store, int index, const std::vector<fs::path>& files, int depth,
                                  const Effort& effort, const Cancellation& cancellation) {
  const EngramTable& table = store.tables()[static_cast<std::size_t>(index)];
  const FileAccess access = store.backend().access(table.codes.shard);
  EngramFigure figure;
  figure.layer = table.layer;
  figure.reads.path = files.front().parent_path().string();
  figure.reads.blockBytes = kEngramSectorBytes;
  figure.reads.queueDepth = depth;
  figure.reads.direct = access.direct;
  figure.reads.reason = access.reason;
  figure.reads.io = std::string(store.backend().name());
  ReadCeilingOptions bare;
  bare.files = files;
  bare.blockBytes = kEngramSectorBytes;
  bare.depth = depth;
  bare.direct = access.direct;
  bare.uring = figure.reads.io == "uring";
  COLIBRI_ASSIGN_OR_RETURN(const auto ceiling, ReadCeiling::open(bare));
  RowReads rows(store, index);
  const auto most = [&]() -> Result<double> {
    COLIBRI_ASSIGN_OR_RETURN(const ReadRate rate, ceiling->measure(effort.seconds, cancellation));
    return rate.itemsPerSecond();
  };
  const auto own = [&] { return rows.measure(effort.seconds, cancellation); };
  COLIBRI_RETURN_IF_ERROR(compare(effort, figure.reads, own, most));
  figure.rowsPerSecond = median(rows.rowRates());
  return figure;
}

}  // namespace

Result<EngramBenchReport> benchEngram(const IoBenchOptions& options, const Cancellation& cancellation) {
  COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(options.engine.model));
  if (!config.engram.present()) {
    return Status(Code::kUnavailable, "no_engram",
                  "This model has no n-gram tables; --engram measures those of DeepSeek V4.1 models.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const auto shards, ShardSet::open(options.engine.model, options.engine.shardDirs));
  COLIBRI_ASSIGN_OR_RETURN(std::vector<EngramTable> tables, engramTables(config, *shards));
  std::vector<fs::path> paths;
  for (const Shard& shard : shards->shards()) paths.push_back(shard.path);
  const int depth = options.engine.queueDepth ? *options.engine.queueDepth : kEngramQueueDepth;
  COLIBRI_ASSIGN_OR_RETURN(auto backend, openReadBackend(paths, benchReadOptions(options.engine, depth)));
  EngramStoreOptions store;
  store.cacheBytes = EngramStore::bytesForSectors(config.engram.headDim, kSectors);
  COLIBRI_ASSIGN_OR_RETURN(const auto engram, EngramStore::create(tables, std::move(backend), store, nullptr));
  EngramBenchReport report;
  const Effort effort = effortOf(options.quick);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::vector<fs::path> files = filesOf(tables[i], paths);
    if (std::string warning = warningOf(files.front(), files); !warning.empty())
      report.notices.push_back(std::move(warning));
    COLIBRI_ASSIGN_OR_RETURN(EngramFigure figure,
                             compareTable(*engram, static_cast<int>(i), files, depth, effort, cancellation));
    report.tables.push_back(std::move(figure));
  }
  return report;
}

}  // namespace colibri
