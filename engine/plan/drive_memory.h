#pragma once
// Drives that were measured once, remembered in the data folder.

#include "plan/drive_probe.h"
#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace colibri {

/// A run whose rate is further than this from the remembered one asks for a new measurement.
inline constexpr double kDriveDisagreement = 0.2;

struct DriveFacts {
  std::string key;     ///< of the file system, the same after a restart
  std::string kind;    ///< as FileSystemProbe
  std::string device;  ///< block device, empty when there is none
  double bytesPerSecond = 0;
  double iops4k = 0;
  int queueDepth = 0;
  bool direct = false;
  std::string reason;    ///< why not direct
  std::string measured;  ///< day, "2026-11-30"
  bool isStale = false;  ///< a run disagreed: measure again when there is an occasion
  std::string warning;   ///< why the figures say little; such facts are never remembered
};

/// What is remembered about the drive that holds `path`; nothing when it is unknown, `dataFolder` is empty or the file
/// there cannot be read.
[[nodiscard]] std::optional<DriveFacts> knownDrive(const std::filesystem::path& dataFolder,
                                                   const std::filesystem::path& path);

/// measureDrive() of `file`, remembered unless the measurement has a warning. Errors as measureDrive(); a data folder
/// that cannot be written is none: `notice`, when given, then gets a sentence.
Result<DriveFacts> measureAndRemember(const std::filesystem::path& dataFolder, const std::filesystem::path& file,
                                      const DriveProbeOptions& options, const Cancellation& cancellation = {},
                                      std::string* notice = nullptr);

/// What a run saw: bytes read over time with reads in flight, of a drive that was kept busy. Marks the remembered facts
/// stale when they disagree by more than kDriveDisagreement; ok also when the drive is not known. kIo when that cannot
/// be written.
Status noteObserved(const std::filesystem::path& dataFolder, const std::filesystem::path& path, double bytesPerSecond);

/// Identity of the file system under `path`: its UUID when /dev/disk/by-uuid names it, else device name, file-system id
/// and size. Empty when the path cannot be examined.
[[nodiscard]] std::string driveKey(const std::filesystem::path& path);

}  // namespace colibri
