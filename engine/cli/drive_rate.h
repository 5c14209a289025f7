#pragma once
// How fast a model's drive really reads, measured the way experts are read.

#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace colibri {

struct DriveRate {
  double bytesPerSecond = 0;
  std::uint64_t bytesRead = 0;
  double seconds = 0;
  bool direct = false;
  std::string reason;   ///< why the reads were not direct
  std::string warning;  ///< why the figure may not mean much (a sparse or small file)
};

/// Reads blocks of up to 4 MiB, eight at a time, from places all over `file`, until a second or 1 GiB has passed. kIo,
/// kCancelled.
Result<DriveRate> measureDriveRate(const std::filesystem::path& file, const Cancellation& cancellation);

}  // namespace colibri
