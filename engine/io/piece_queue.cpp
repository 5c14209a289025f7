#include "io/piece_queue.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

// EINTR and EAGAIN pass; a call that only ever says so is a broken drive or driver.
constexpr std::uint32_t kMaxInterruptedCalls = 1000;
// A direct read near the end of a file may come back below one block once, never again and again.
constexpr std::uint32_t kMaxStuckCalls = 3;

std::string placeOf(const ReadPiece& piece, const FileTable& files) {
  return files.name(piece.file) + " at byte " + std::to_string(piece.offset + piece.done);
}

Status readFailed(const ReadPiece& piece, int error, const FileTable& files) {
  return Status(Code::kIo, "read_failed",
                "Reading " + placeOf(piece, files) + " failed: " + std::generic_category().message(error) +
                    ". Check the drive and its connection, then try again.",
                {}, true);
}

Status fileShrank(const ReadPiece& piece, const FileTable& files) {
  return Status(Code::kIo, "file_shrank",
                files.name(piece.file) + " ends at byte " + std::to_string(files.bytes(piece.file)) + ", but " +
                    std::to_string(piece.expected) + " bytes were expected at byte " + std::to_string(piece.offset) +
                    ": the file became shorter after it was opened. Check or download it again.");
}

/// Removes the first `taken` entries once they are most of the vector, so that it stays small and moving them stays
/// cheap.
template <typename T>
void dropTaken(std::vector<T>& entries, std::size_t& taken) {
  if (taken * 2 < entries.size()) return;
  entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(taken));
  taken = 0;
}

}  // namespace

Result<PieceStep> advancePiece(ReadPiece& piece, std::int64_t result, FileTable& files) {
  if (result < 0) {
    const int error = static_cast<int>(-result);
    // ECANCELED: io_uring gives up the reads of a thread that ends; the request itself lives on.
    if (error == EINTR || error == EAGAIN || error == ECANCELED) {
      if (++piece.idleCalls > kMaxInterruptedCalls) return readFailed(piece, error, files);
      return PieceStep::kAgain;
    }
    if (piece.direct && (error == EINVAL || error == EOPNOTSUPP)) {
      COLIBRI_RETURN_IF_ERROR(files.demote(piece.file, "The file system refused the first direct read (O_DIRECT)."));
      return PieceStep::kAgain;
    }
    return readFailed(piece, error, files);
  }
  const std::uint64_t reached = piece.done + static_cast<std::uint64_t>(result);
  if (reached >= piece.expected) {
    piece.done = reached;
    return PieceStep::kDone;
  }
  if (result == 0) return fileShrank(piece, files);
  // A direct read goes on at a block's border, so the last part of a block is read twice.
  const std::uint64_t next = piece.direct ? alignDown(reached) : reached;
  piece.idleCalls = next == piece.done ? piece.idleCalls + 1 : 0;
  if (piece.idleCalls >= kMaxStuckCalls) return fileShrank(piece, files);
  piece.done = next;
  return PieceStep::kAgain;
}

void PieceQueue::add(const ReadRequest& request) {
  std::uint32_t index = 0;
  if (m_freeActive.empty()) {
    index = static_cast<std::uint32_t>(m_active.size());
    m_active.emplace_back();
  } else {
    index = m_freeActive.back();
    m_freeActive.pop_back();
  }
  m_active[index] = Active{request, 0, 0, 0, Status()};
  ++m_inFlight;
  if (request.bytes == 0) {
    complete(index);
  } else {
    m_waiting.push_back(index);
  }
}

bool PieceQueue::take(ReadPiece& piece) {
  if (m_firstWaiting == m_waiting.size()) return false;
  const std::uint32_t index = m_waiting[m_firstWaiting];
  Active& active = m_active[index];
  const ReadRequest& request = active.request;
  const std::uint64_t bytes = std::min(kReadPieceBytes, request.bytes - active.taken);
  const std::uint64_t expected = request.expected > active.taken ? request.expected - active.taken : 0;
  piece = ReadPiece{};
  piece.request = index;
  piece.file = request.file;
  piece.offset = request.offset + active.taken;
  piece.bytes = bytes;
  piece.expected = std::min(bytes, expected);
  piece.target = request.target + active.taken;
  active.taken += bytes;
  ++active.flying;
  if (active.taken == request.bytes) {
    ++m_firstWaiting;
    dropTaken(m_waiting, m_firstWaiting);
  }
  return true;
}

void PieceQueue::finish(const ReadPiece& piece, Status status) {
  Active& active = m_active[piece.request];
  --active.flying;
  active.arrived += piece.done;
  if (!status.isOk()) {
    if (active.status.isOk()) active.status = std::move(status);
    if (active.taken < active.request.bytes) {
      active.taken = active.request.bytes;
      const auto first = m_waiting.begin() + static_cast<std::ptrdiff_t>(m_firstWaiting);
      m_waiting.erase(std::find(first, m_waiting.end(), piece.request));
    }
  }
  if (active.flying == 0 && active.taken == active.request.bytes) complete(piece.request);
}

void PieceQueue::complete(std::uint32_t index) {
  Active& active = m_active[index];
  m_completions.push_back(
      ReadCompletion{active.request.tag, std::move(active.status), active.arrived, std::chrono::steady_clock::now()});
  active.status = Status();
  m_freeActive.push_back(index);
}

std::size_t PieceQueue::takeCompletions(std::span<ReadCompletion> completions) {
  const std::size_t count = std::min(completions.size(), m_completions.size() - m_firstCompletion);
  for (std::size_t i = 0; i < count; ++i) completions[i] = std::move(m_completions[m_firstCompletion + i]);
  m_firstCompletion += count;
  m_inFlight -= count;
  dropTaken(m_completions, m_firstCompletion);
  return count;
}

}  // namespace colibri
