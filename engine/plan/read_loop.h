#pragma once
// Keeping a drive's queue full for a while, and the rate that this gave.

#include "io/read_backend.h"
#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace colibri {

struct ReadRate {
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;  ///< that arrived
  double seconds = 0;
  [[nodiscard]] double bytesPerSecond() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
  [[nodiscard]] double itemsPerSecond() const { return seconds > 0 ? static_cast<double>(items) / seconds : 0; }
};

/// What to read and for how long. An item is one or more requests that are read together into one place.
struct ReadLoop {
  std::size_t items = 1;  ///< in flight at once
  /// Appends the requests of a next item for `place` (0 to items - 1); every tag is `place`. At least one request.
  std::function<void(std::uint64_t place, std::vector<ReadRequest>& requests)> next;
  /// How long the caller is busy with something else between two looks at the drive: what has ended meanwhile is only
  /// then taken and replaced.
  std::chrono::microseconds away{0};
  /// Asked whenever reads have ended, with the seconds since the first did: true to begin no more.
  std::function<bool(double seconds)> enough;
};

/// Reads until `enough`, then waits for what is in flight. The clock starts when the first read ends and stops with the
/// last one before `enough`, so neither filling nor draining the queue is in the rate. `backend` has nothing in flight.
/// kIo, kCancelled.
Result<ReadRate> keepReading(ReadBackend& backend, const ReadLoop& loop, const Cancellation& cancellation);

}  // namespace colibri
