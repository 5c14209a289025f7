#include "plan/drive_probe.h"

#include "base/buffer.h"
#include "plan/read_loop.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace colibri {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBuffer = std::uint64_t{128} << 20;
/// Below this a drive's own cache may hold the whole file.
constexpr std::uint64_t kSmallFile = std::uint64_t{256} << 20;
constexpr double kSlowBytesPerSecond = 50e6;
constexpr int kSmallReadDepth = 32;
constexpr double kGoodEnough = 0.97;
/// A thread that computes looks at the drive between two stages of a layer, not all the time: a queue that is just deep
/// enough for one that only waits would run dry. This is a long stage.
constexpr std::chrono::microseconds kStage{4000};

/// Every block of the file once in random order, then again.
class Places {
public:
  Places(std::uint64_t fileBytes, std::uint64_t block) : m_block(block) {
    // Positions of 4 KiB reads are many; a sample is as good as all.
    constexpr std::uint64_t kMostPlaces = std::uint64_t{1} << 16;
    const std::uint64_t all = fileBytes / block;
    const std::uint64_t stride = all / kMostPlaces + 1;
    for (std::uint64_t place = 0; place < all; place += stride) m_order.push_back(place);
    std::shuffle(m_order.begin(), m_order.end(), std::mt19937_64(1));
  }
  std::uint64_t next() { return m_order[m_next++ % m_order.size()] * m_block; }

private:
  std::uint64_t m_block;
  std::vector<std::uint64_t> m_order;
  std::size_t m_next = 0;
};

struct Window {
  std::uint64_t block = 0;   ///< bytes of one request
  std::size_t requests = 0;  ///< in flight at once
  double seconds = 0;
  std::chrono::microseconds away{0};  ///< ReadLoop::away
};

/// One file and the memory to read it into.
class Probe {
public:
  static Result<Probe> open(const fs::path& file, const DriveProbeOptions& options, std::uint64_t fileBytes) {
    const std::uint64_t whole = alignDown(fileBytes);
    const std::uint64_t block =
        std::min({alignUp(std::max<std::uint64_t>(options.expertBytes, 1)), whole, kMostBuffer / 2});
    Probe probe(file, options, fileBytes, block);
    COLIBRI_ASSIGN_OR_RETURN(probe.m_memory, Buffer::allocateUntouched(kMostBuffer, MemoryTag::kScratch, nullptr));
    return probe;
  }

  /// Bytes a second at `depth` pieces in flight.
  Result<double> rateAt(int depth, const Cancellation& cancellation) {
    const std::uint64_t piece = std::min(m_block, kReadPieceBytes);
    const std::uint64_t needed = static_cast<std::uint64_t>(depth) * piece / m_block + 2;
    // The first request ends the warm-up, so there must be another one behind it.
    Window window{m_block, std::min(needed, m_memory.size() / m_block), m_options.seconds};
    // With experts of some kilobytes a stage would be all that is measured.
    if (m_block >= kReadPieceBytes / 2) window.away = kStage;
    COLIBRI_ASSIGN_OR_RETURN(const ReadRate rate, run(depth, window, m_places, cancellation));
    return rate.bytesPerSecond();
  }

  /// 4 KiB reads a second.
  Result<double> smallReads(const Cancellation& cancellation) {
    Places places(m_fileBytes, kReadAlignment);
    const Window window{kReadAlignment, 2 * kSmallReadDepth, m_options.seconds};
    COLIBRI_ASSIGN_OR_RETURN(const ReadRate rate, run(kSmallReadDepth, window, places, cancellation));
    return rate.itemsPerSecond();
  }

  [[nodiscard]] const FileAccess& access() const { return m_access; }
  [[nodiscard]] const std::string& io() const { return m_io; }

private:
  Probe(fs::path file, const DriveProbeOptions& options, std::uint64_t fileBytes, std::uint64_t block)
      : m_file(std::move(file)),
        m_options(options),
        m_fileBytes(fileBytes),
        m_block(block),
        m_places(fileBytes, block) {}

  Result<ReadRate> run(int depth, const Window& window, Places& places, const Cancellation& cancellation) {
    // Pages are taken from the system before the clock runs, not by the first reads.
    for (std::size_t at = m_touched; at < window.requests * window.block; at += kReadAlignment) {
      m_memory.data()[at] = std::byte{1};
      m_touched = at + kReadAlignment;
    }
    ReadOptions options;
    options.kind = m_options.io;
    options.direct = m_options.direct;
    options.queueDepth = depth;
    const std::array paths{m_file};
    COLIBRI_ASSIGN_OR_RETURN(const auto backend, openReadBackend(paths, options));
    const std::array buffers{std::span(m_memory.data(), m_memory.size())};
    backend->registerBuffers(buffers);
    if (!backend->access(0).direct) dropFromPageCache();
    ReadLoop loop;
    loop.items = window.requests;
    loop.away = window.away;
    loop.next = [&](std::uint64_t place, std::vector<ReadRequest>& requests) {
      std::byte* target = m_memory.data() + place * window.block;
      ReadRequest request{0, places.next(), window.block, window.block, target, place};
      request.buffer = 0;
      requests.push_back(request);
    };
    loop.enough = [&](double seconds) { return seconds >= window.seconds; };
    Result<ReadRate> rate = keepReading(*backend, loop, cancellation);
    m_access = backend->access(0);
    m_io = std::string(backend->name());
    return rate;
  }

  void dropFromPageCache() const {
#if defined(POSIX_FADV_DONTNEED)
    const int descriptor = ::open(m_file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    (void)::close(descriptor);
#endif
  }

  fs::path m_file;
  DriveProbeOptions m_options;
  std::uint64_t m_fileBytes = 0;
  std::uint64_t m_block = 0;
  Places m_places;
  Buffer m_memory;
  std::size_t m_touched = 0;
  FileAccess m_access;
  std::string m_io;
};

/// The smallest comfortable depth whose rate is within 3 % of the best; where only shallow queues are that good, the
/// smallest of those.
const DepthRate& bestDepth(const std::vector<DepthRate>& depths) {
  double best = 0;
  for (const DepthRate& rate : depths) best = std::max(best, rate.bytesPerSecond);
  const auto isGood = [&](const DepthRate& rate) { return rate.bytesPerSecond >= kGoodEnough * best; };
  const auto comfortable = std::find_if(depths.begin(), depths.end(), [&](const DepthRate& rate) {
    return isGood(rate) && rate.depth >= kComfortableDepth;
  });
  return comfortable != depths.end() ? *comfortable : *std::find_if(depths.begin(), depths.end(), isGood);
}

Status measureDepths(Probe& probe, const DriveProbeOptions& options, DriveMeasurement& found,
                     const Cancellation& cancellation) {
  std::vector<std::vector<double>> rates(options.depths.size());
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < options.depths.size(); ++i) {
      const int depth = std::clamp(options.depths[i], 1, 256);
      COLIBRI_ASSIGN_OR_RETURN(const double rate, probe.rateAt(depth, cancellation));
      rates[i].push_back(rate);
      // A queue of 64 MiB would keep such a drive, and the user, waiting for seconds.
      if (rate < kSlowBytesPerSecond && depth >= 4) break;
    }
  }
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (rates[i].empty()) continue;
    const double mean = std::accumulate(rates[i].begin(), rates[i].end(), 0.0) / static_cast<double>(rates[i].size());
    found.depths.push_back({options.depths[i], mean});
  }
  if (found.depths.empty()) return Status(Code::kUsage, "no_depths", "Name a queue depth to measure a drive with.");
  const DepthRate& best = bestDepth(found.depths);
  found.queueDepth = best.depth;
  found.bytesPerSecond = best.bytesPerSecond;
  return Status::ok();
}

}  // namespace

Result<DriveMeasurement> measureDrive(const fs::path& file, const DriveProbeOptions& options,
                                      const Cancellation& cancellation) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Status(Code::kIo, "read_failed", file.string() + " cannot be examined; check that the drive is there.");
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  DriveMeasurement found;
  if (size < kReadAlignment) {
    found.warning = "The file is too small to measure with.";
    return found;
  }
  if (static_cast<std::uint64_t>(info.st_blocks) * 512 < size / 10 * 9) {
    found.warning = "The file has holes, which are read without touching the drive.";
  } else if (size < kSmallFile) {
    found.warning = "The file is small; the drive's own cache may answer.";
  }
  COLIBRI_ASSIGN_OR_RETURN(Probe probe, Probe::open(file, options, size));
  COLIBRI_RETURN_IF_ERROR(measureDepths(probe, options, found, cancellation));
  COLIBRI_ASSIGN_OR_RETURN(found.iops4k, probe.smallReads(cancellation));
  found.direct = probe.access().direct;
  found.reason = probe.access().reason;
  found.io = probe.io();
  return found;
}

}  // namespace colibri
