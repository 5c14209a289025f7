#pragma once
// How much was read from each drive, and how well it was kept busy.

#include <cstdint>
#include <string>

namespace colibri {

/// Reads of expert weights from one folder, in all or during one answer.
struct DriveCounters {
  std::string path;
  std::uint64_t bytesRead = 0;
  std::uint64_t requests = 0;  ///< system calls that finished
  double busySeconds = 0;      ///< time with at least one read in flight
  double latencyMeanSeconds = 0;
  double latencyP99Seconds = 0;        ///< upper edge of its histogram bin
  double meanOutstandingBytes = 0;     ///< while busy
  std::uint64_t outstandingBytes = 0;  ///< now
  bool direct = false;
  std::string reason;  ///< why not direct
  std::string fault;   ///< why this copy is not read any more; empty while it is
};

}  // namespace colibri
