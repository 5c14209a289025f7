#pragma once
// Requests cut into pieces, each piece given to a drive, and the pieces' outcomes put together again.

#include "io/drive_load.h"
#include "io/file_table.h"
#include "io/read_backend.h"
#include <colibri/status.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace colibri {

/// One system call's worth of a request. The next call reads [offset + done, offset + bytes) to target + done.
struct ReadPiece {
  std::uint32_t request = 0;  ///< index inside PieceQueue
  CopyIndex copy;             ///< where it is read from
  std::uint32_t tried = 0;    ///< bit per copy that has failed
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t expected = 0;
  std::uint64_t done = 0;
  std::byte* target = nullptr;
  std::uint32_t buffer = kNoBuffer;
  ReadPriority priority = ReadPriority::kDemand;
  bool direct = false;          ///< how the call in flight was made
  std::uint32_t idleCalls = 0;  ///< calls in a row that brought nothing
  DriveLoad::Clock::time_point begun;
};

enum class PieceStep { kDone, kAgain };

/// Applies the result of one system call (bytes, or -errno) to `piece`: continues short reads, repeats interrupted
/// ones, goes on buffered where direct reads are refused. kIo names file and offset.
Result<PieceStep> advancePiece(ReadPiece& piece, std::int64_t result, FileTable& files);

/// Decides which piece is read next and from which drive. Not thread-safe but for counters(). Makes no allocation once
/// its vectors have grown. `files` outlives it.
class PieceQueue {
public:
  /// At most 32 copies of a file are used.
  PieceQueue(FileTable& files, const ReadOptions& options);

  void add(const ReadRequest& request);
  void promote(std::uint64_t tag, ReadPriority priority);
  /// Next piece to read and the copy to read it from; false when all have been taken or no drive that could read one
  /// has a place left.
  bool take(ReadPiece& piece);
  /// The end of a piece that take() gave. A failed one is given out again while another copy may have the bytes; after
  /// the last failure the rest of its request is not read.
  void finish(const ReadPiece& piece, Status status);
  std::size_t takeCompletions(std::span<ReadCompletion> completions);
  [[nodiscard]] bool hasCompletions() const { return m_firstCompletion < m_completions.size(); }
  /// Requests added whose completion has not been taken.
  [[nodiscard]] std::size_t inFlight() const { return m_inFlight; }
  /// Places of all drives together.
  [[nodiscard]] int totalDepth() const;
  [[nodiscard]] std::vector<DriveCounters> counters() const;

private:
  struct Active {
    ReadRequest request;
    std::uint64_t taken = 0;  ///< bytes handed out as pieces
    std::uint64_t arrived = 0;
    std::uint32_t flying = 0;  ///< pieces handed out, or waiting to be given out again
    Status status;
  };
  /// Indices of requests with bytes to hand out, from `first` on.
  struct Waiting {
    std::vector<std::uint32_t> requests;
    std::size_t first = 0;
  };
  [[nodiscard]] std::uint32_t usableCopies(std::uint32_t file, std::uint32_t tried) const;
  bool choose(std::uint32_t file, std::uint32_t tried, std::uint64_t bytes, CopyIndex& copy) const;
  bool takeRetry(ReadPiece& piece);
  bool takeFrom(Waiting& waiting, ReadPiece& piece);
  void begin(ReadPiece& piece);
  void markFault(const ReadPiece& piece, const Status& status);
  void complete(std::uint32_t index);

  FileTable* m_files;
  SpanRecorder* m_spans;
  std::deque<DriveLoad> m_drives;  ///< never moved
  std::vector<bool> m_faulty;      ///< by drive: a mirror that failed once is not read any more
  std::vector<bool> m_badPrimary;  ///< by file: the primary failed where another copy could be read
  std::vector<ReadPiece> m_retries;
  std::vector<Active> m_active;
  std::vector<std::uint32_t> m_freeActive;
  std::array<Waiting, kReadPriorities> m_waiting;
  int m_predictedFlying = 0;
  std::vector<ReadCompletion> m_completions;  ///< from m_firstCompletion on
  std::size_t m_firstCompletion = 0;
  std::size_t m_inFlight = 0;
};

}  // namespace colibri
