#pragma once
// Requests cut into pieces, and the pieces' outcomes put together again.

#include "io/file_table.h"
#include "io/read_backend.h"
#include <colibri/status.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace colibri {

/// One system call's worth of a request. The next call reads [offset + done, offset + bytes) to target + done.
struct ReadPiece {
  std::uint32_t request = 0;  ///< index inside PieceQueue
  std::uint32_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t expected = 0;
  std::uint64_t done = 0;
  std::byte* target = nullptr;
  bool direct = false;          ///< how the call in flight was made
  std::uint32_t idleCalls = 0;  ///< calls in a row that brought nothing
};

enum class PieceStep { kDone, kAgain };

/// Applies the result of one system call (bytes, or -errno) to `piece`: continues short reads, repeats interrupted
/// ones, goes on buffered where direct reads are refused. kIo names file and offset.
Result<PieceStep> advancePiece(ReadPiece& piece, std::int64_t result, FileTable& files);

/// First in, first out. Not thread-safe. Makes no allocation once its vectors have grown.
class PieceQueue {
public:
  void add(const ReadRequest& request);
  /// Next piece to read; false when all have been taken.
  bool take(ReadPiece& piece);
  /// The end of a piece that take() gave. After a failure the rest of its request is not read.
  void finish(const ReadPiece& piece, Status status);
  std::size_t takeCompletions(std::span<ReadCompletion> completions);
  [[nodiscard]] bool hasCompletions() const { return m_firstCompletion < m_completions.size(); }
  /// Requests added whose completion has not been taken.
  [[nodiscard]] std::size_t inFlight() const { return m_inFlight; }

private:
  struct Active {
    ReadRequest request;
    std::uint64_t taken = 0;  ///< bytes handed out as pieces
    std::uint64_t arrived = 0;
    std::uint32_t flying = 0;
    Status status;
  };
  void complete(std::uint32_t index);

  std::vector<Active> m_active;
  std::vector<std::uint32_t> m_freeActive;
  std::vector<std::uint32_t> m_waiting;  ///< indices with bytes to hand out, from m_firstWaiting on
  std::size_t m_firstWaiting = 0;
  std::vector<ReadCompletion> m_completions;  ///< from m_firstCompletion on
  std::size_t m_firstCompletion = 0;
  std::size_t m_inFlight = 0;
};

}  // namespace colibri
