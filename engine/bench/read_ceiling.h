#pragma once
// How fast files can be read at all: the shortest loop there is, with nothing of Colibri's read path in it.

#include "plan/read_loop.h"
#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace colibri {

struct ReadCeilingOptions {
  std::vector<std::filesystem::path> files;
  std::uint64_t blockBytes = std::uint64_t{2} << 20;  ///< of one read, a multiple of 4096
  int depth = 8;                                      ///< reads in flight, 1 to 256
  bool direct = true;
  std::size_t mostBlocks = std::size_t{1} << 22;  ///< of more, this many evenly spread ones are read
  bool uring = true;                              ///< false: threads that call pread
};

/// Whole blocks of all files in random order, each once before any twice, into huge pages touched before. One thread
/// calls.
class ReadCeiling {
public:
  /// kIo when a file cannot be opened so or none holds a block; kUnavailable without io_uring; kMemory.
  static Result<std::unique_ptr<ReadCeiling>> open(const ReadCeilingOptions& options);
  virtual ~ReadCeiling() = default;
  /// Reads for `seconds`; clock and rate as keepReading(). kIo, kCancelled.
  virtual Result<ReadRate> measure(double seconds, const Cancellation& cancellation) = 0;
};

}  // namespace colibri
