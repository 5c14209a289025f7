#include "bench/io_bench.h"

#include "bench/comparison.h"
#include "bench/expert_reads.h"
#include "bench/read_ceiling.h"
#include "bench/working_set.h"
#include "checkpoint/model_config.h"
#include "kernels/kernels.h"
#include "plan/drive_memory.h"
#include "plan/probe.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

namespace colibri {
namespace {

namespace fs = std::filesystem;

constexpr int kSmallReadDepth = 32;

std::size_t workingSetOf(bool quick) {
  return quick ? std::size_t{24} << 20 : kWorkingSetBytes;
}

/// What a run of the model would use on this drive: the user's depth, else the one that measured best.
Result<int> depthOf(const IoBenchOptions& options, const ExpertFolder& folder, std::uint64_t expertBytes,
                    const Cancellation& cancellation) {
  if (options.engine.queueDepth) return *options.engine.queueDepth;
  const std::vector<fs::path> files = folder.files();
  const std::optional<DriveFacts> known = knownDrive(options.engine.dataFolder, files.front());
  if (known && !known->isStale) return known->queueDepth;
  const auto size = [](const fs::path& file) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(file, error);
    return error ? 0 : bytes;
  };
  const fs::path largest = *std::max_element(files.begin(), files.end(),
                                             [&](const fs::path& a, const fs::path& b) { return size(a) < size(b); });
  DriveProbeOptions probe;
  probe.expertBytes = expertBytes;
  probe.direct = options.engine.direct;
  if (options.quick) {
    probe.depths = {8};
    probe.seconds = 0.002;
    probe.rounds = 1;
    COLIBRI_ASSIGN_OR_RETURN(const DriveMeasurement found, measureDrive(largest, probe, cancellation));
    return std::max(found.queueDepth, 1);
  }
  COLIBRI_ASSIGN_OR_RETURN(const DriveFacts facts,
                           measureAndRemember(options.engine.dataFolder, largest, probe, cancellation));
  return std::max(facts.queueDepth, 1);
}

ReadCeilingOptions ceilingOptions(const ExpertFolder& folder, const ReadFigure& figure) {
  ReadCeilingOptions options;
  options.files = folder.files();
  options.blockBytes = figure.blockBytes;
  options.depth = figure.queueDepth;
  options.direct = figure.direct;
  options.uring = figure.io == "uring";
  return options;
}

Result<ReadFigure> compareExperts(const ExpertFolder& folder, ExpertReads& reads, int depth, const Effort& effort,
                                  const Cancellation& cancellation) {
  ReadFigure figure;
  figure.path = folder.path.string();
  figure.blockBytes = reads.blockBytes();
  figure.queueDepth = depth;
  figure.direct = reads.access().direct;
  figure.reason = reads.access().reason;
  figure.io = reads.io();
  COLIBRI_ASSIGN_OR_RETURN(const auto ceiling, ReadCeiling::open(ceilingOptions(folder, figure)));
  const auto bare = [&]() -> Result<double> {
    COLIBRI_ASSIGN_OR_RETURN(const ReadRate rate, ceiling->measure(effort.seconds, cancellation));
    return rate.bytesPerSecond();
  };
  const auto own = [&]() -> Result<double> {
    const auto enough = [&](double seconds) { return seconds >= effort.seconds; };
    COLIBRI_ASSIGN_OR_RETURN(const ReadRate rate, reads.read(enough, cancellation));
    return rate.bytesPerSecond();
  };
  COLIBRI_RETURN_IF_ERROR(compare(effort, figure, own, bare));
  return figure;
}

Result<ReadFigure> compareSmallReads(const ExpertFolder& folder, const ReadFigure& like, const ReadOptions& options,
                                     const Effort& effort, const Cancellation& cancellation) {
  ReadFigure figure = like;
  figure.blockBytes = kReadAlignment;
  figure.queueDepth = kSmallReadDepth;
  COLIBRI_ASSIGN_OR_RETURN(const auto ceiling, ReadCeiling::open(ceilingOptions(folder, figure)));
  const std::vector<fs::path> files = folder.files();
  ReadOptions deep = options;
  deep.queueDepth = kSmallReadDepth;
  COLIBRI_ASSIGN_OR_RETURN(const auto backend, openReadBackend(files, deep));
  std::vector<std::uint64_t> blocks;
  for (const fs::path& file : files) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(file, error);
    blocks.push_back(error ? 0 : size / kReadAlignment);
  }
  COLIBRI_ASSIGN_OR_RETURN(const Buffer memory,
                           Buffer::allocate(2 * kSmallReadDepth * kReadAlignment, MemoryTag::kScratch, nullptr));
  std::mt19937_64 random(1);
  std::discrete_distribution<std::uint32_t> fileOf(blocks.begin(), blocks.end());
  ReadLoop loop;
  loop.items = 2 * kSmallReadDepth;
  loop.enough = [&](double seconds) { return seconds >= effort.seconds / 2; };
  loop.next = [&](std::uint64_t place, std::vector<ReadRequest>& requests) {
    const std::uint32_t file = fileOf(random);
    requests.push_back({file, random() % blocks[file] * kReadAlignment, kReadAlignment, kReadAlignment,
                        memory.data() + place * kReadAlignment, place});
  };
  const auto bare = [&]() -> Result<double> {
    COLIBRI_ASSIGN_OR_RETURN(const ReadRate rate, ceiling->measure(effort.seconds / 2, cancellation));
    return rate.itemsPerSecond();
  };
  const auto own = [&]() -> Result<double> {
    COLIBRI_ASSIGN_OR_RETURN(const ReadRate rate, keepReading(*backend, loop, cancellation));
    return rate.itemsPerSecond();
  };
  COLIBRI_RETURN_IF_ERROR(compare(effort, figure, own, bare));
  return figure;
}

/// Expert reads going on in a thread of their own while it lives.
class BackgroundReads {
public:
  BackgroundReads(ExpertReads& reads, const Cancellation& cancellation) : m_rate(ReadRate{}) {
    m_thread = std::thread([this, &reads, cancellation] {
      m_rate = reads.read([this](double) { return m_stop.load(std::memory_order_relaxed); }, cancellation);
    });
  }
  BackgroundReads(const BackgroundReads&) = delete;
  BackgroundReads& operator=(const BackgroundReads&) = delete;
  ~BackgroundReads() { (void)stop(); }
  Result<ReadRate> stop() {
    m_stop.store(true, std::memory_order_relaxed);
    if (m_thread.joinable()) m_thread.join();
    return m_rate;
  }

private:
  std::atomic<bool> m_stop{false};
  Result<ReadRate> m_rate;
  std::thread m_thread;
};

/// The kernel that an expert spends its time in, over all of a working set.
class Matvec {
public:
  Matvec(const Kernels& kernels, const WorkingSet& set) : m_kernels(kernels), m_set(set), m_y(m_shape.n) {
    const std::vector<float> x(static_cast<std::size_t>(m_shape.k), 0.5F);
    m_prepared.resize(fp4PreparedBytes(m_shape.k));
    kernels.prepareFp4(x.data(), m_shape.k, 128, m_prepared.data());
  }
  /// Bytes of weights a second of this thread's own time, over at least `seconds` of it.
  double rate(double seconds) {
    const std::size_t matrix = m_shape.fp4CodeBytes() + m_shape.fp4ScaleBytes();
    const std::size_t count = m_set.size() / matrix;
    const double start = threadSeconds();
    std::size_t done = 0;
    while (done < count || threadSeconds() - start < seconds) {
      const std::uint8_t* codes = m_set.data() + done % count * matrix;
      m_kernels.linearFp4(m_prepared.data(), 1, codes, codes + m_shape.fp4CodeBytes(), m_shape.k,
                          {m_y.data(), m_shape.n, 0, m_shape.n});
      ++done;
    }
    return static_cast<double>(done * matrix) / std::max(threadSeconds() - start, 1e-9);
  }

private:
  const Kernels& m_kernels;
  const WorkingSet& m_set;
  MatrixShape m_shape;
  std::vector<std::byte> m_prepared;
  std::vector<float> m_y;
};

Result<InterferenceFigure> compareMatvec(const ExpertFolder& folder, ExpertReads& reads, const Kernels& kernels,
                                         const Effort& effort, std::size_t workingSet,
                                         const Cancellation& cancellation) {
  COLIBRI_ASSIGN_OR_RETURN(const WorkingSet set, WorkingSet::create(workingSet));
  Matvec matvec(kernels, set);
  InterferenceFigure figure;
  figure.path = folder.path.string();
  figure.isa = std::string(kernels.name);
  figure.workingSetBytes = set.size();
  figure.rounds = effort.rounds;
  const double seconds = effort.seconds / 2;
  std::vector<double> alone;
  std::vector<double> beside;
  std::vector<double> slowdown;
  std::vector<double> reading;
  (void)matvec.rate(0);
  for (int round = 0; round < figure.rounds; ++round) {
    alone.push_back(matvec.rate(seconds));
    BackgroundReads background(reads, cancellation);
    // The queue is full by then.
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(0.05, effort.seconds)));
    beside.push_back(matvec.rate(seconds));
    COLIBRI_ASSIGN_OR_RETURN(const ReadRate rate, background.stop());
    reading.push_back(rate.bytesPerSecond());
    slowdown.push_back(1 - beside.back() / alone.back());
    if (cancellation.isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped.");
  }
  figure.aloneBytesPerSecond = median(alone);
  figure.besideBytesPerSecond = median(beside);
  figure.slowdown = median(slowdown);
  figure.readBytesPerSecond = median(reading);
  return figure;
}

}  // namespace

Result<IoBenchReport> benchIo(const IoBenchOptions& options, const Cancellation& cancellation) {
  COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(options.engine.model));
  COLIBRI_ASSIGN_OR_RETURN(const auto shards, ShardSet::open(options.engine.model, options.engine.shardDirs));
  COLIBRI_ASSIGN_OR_RETURN(const ExpertLayout layout, ExpertLayout::build(config, *shards));
  COLIBRI_ASSIGN_OR_RETURN(const Kernels* kernels, kernelsFor(options.engine.isa));
  COLIBRI_ASSIGN_OR_RETURN(const auto folders, expertFolders(*shards, layout, options.engine.mirrors));
  const Effort effort = effortOf(options.quick);
  std::size_t workingSet = workingSetOf(options.quick);
  IoBenchReport report;
  if (const std::uint64_t usable = availableMemoryBytes(); usable / 2 < workingSet) {
    constexpr std::size_t kLeast = std::size_t{24} << 20;
    workingSet = std::max<std::size_t>(usable / 2, kLeast);
    report.notices.push_back("Little memory is free: the weights are so few that a processor cache may hold a part.");
  }
  for (const ExpertFolder& folder : folders) {
    if (std::string warning = warningOf(folder.path, folder.files()); !warning.empty())
      report.notices.push_back(std::move(warning));
    COLIBRI_ASSIGN_OR_RETURN(const int depth, depthOf(options, folder, layout.maxExpertBytes(), cancellation));
    const ReadOptions read = benchReadOptions(options.engine, depth);
    COLIBRI_ASSIGN_OR_RETURN(const auto reads, ExpertReads::open(layout, folder, read));
    COLIBRI_ASSIGN_OR_RETURN(ReadFigure experts, compareExperts(folder, *reads, depth, effort, cancellation));
    COLIBRI_ASSIGN_OR_RETURN(ReadFigure small, compareSmallReads(folder, experts, read, effort, cancellation));
    COLIBRI_ASSIGN_OR_RETURN(InterferenceFigure matvec,
                             compareMatvec(folder, *reads, *kernels, effort, workingSet, cancellation));
    report.experts.push_back(std::move(experts));
    report.smallReads.push_back(std::move(small));
    report.interference.push_back(std::move(matvec));
  }
  return report;
}

}  // namespace colibri
