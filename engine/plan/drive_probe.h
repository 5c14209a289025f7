#pragma once
// How fast a drive really reads, measured the way experts are read.

#include "io/read_backend.h"
#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace colibri {

/// Of the depths within 3 % of the best rate the smallest one from here on is chosen. A shallower queue is only chosen
/// where no deeper one is as fast: on a busy machine the thread that fills it comes late at times,
/// and the last piece of an expert is short.
inline constexpr int kComfortableDepth = 8;

struct DriveProbeOptions {
  std::uint64_t expertBytes = 13369344;         ///< one request; V4 Flash's expert unless the model's is known
  std::vector<int> depths{1, 2, 4, 8, 16, 32};  ///< queue depths to try, ascending, in pieces of kReadPieceBytes
  int rounds = 2;                               ///< all depths one after another, so often
  double seconds = 0.15;                        ///< for each depth and round, and for the small reads
  bool direct = true;
  IoKind io = IoKind::kAuto;
};

struct DepthRate {
  int depth = 0;
  double bytesPerSecond = 0;  ///< mean over the rounds
};

struct DriveMeasurement {
  std::vector<DepthRate> depths;  ///< those tried; a drive slower than 50 MB/s is not asked at great depths
  int queueDepth = 0;             ///< the one to use; 0: could not be measured
  double bytesPerSecond = 0;      ///< at that depth
  double iops4k = 0;              ///< random reads of 4 KiB a second, 32 in flight
  bool direct = false;
  std::string reason;   ///< why the reads were not direct
  std::string warning;  ///< why the figures say little about the drive (a sparse or small file); empty when they do
  std::string io;       ///< "uring" or "threads"
};

/// Reads requests of `expertBytes` from places all over `file` through openReadBackend() into huge pages touched
/// before, once for each depth and round, then 4 KiB reads. The queue is looked at every 4 ms only, as a thread does
/// that computes between the looks: the depth must last that long. Takes about two seconds and at most 128 MiB of
/// memory; blocks. A file too small for one request is measured with smaller ones, below 4 KiB not at all (queueDepth
/// 0, warning). Errors: kIo, kMemory, kCancelled (within the reads in flight).
Result<DriveMeasurement> measureDrive(const std::filesystem::path& file, const DriveProbeOptions& options,
                                      const Cancellation& cancellation = {});

}  // namespace colibri
