#include "io/piece_queue.h"

#include "telemetry/span_recorder.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

// EINTR and EAGAIN pass; a call that only ever says so is a broken drive or driver.
constexpr std::uint32_t kMaxInterruptedCalls = 1000;
// A direct read near the end of a file may come back below one block once, never again and again.
constexpr std::uint32_t kMaxStuckCalls = 3;
constexpr std::uint32_t kMaxCopies = 32;
// Requests looked at for one that goes to an idle drive. More are waiting only while all drives are busy.
constexpr std::size_t kLookAhead = 64;
// Without it a drive that is free for a moment would always get the smaller part of a small expert.
constexpr double kAboutEqualBytes = static_cast<double>(kReadPieceBytes) / 2;

std::string placeOf(const ReadPiece& piece, const FileTable& files) {
  return files.name(piece.copy) + " at byte " + std::to_string(piece.offset + piece.done);
}

Status readFailed(const ReadPiece& piece, int error, const FileTable& files) {
  return Status(Code::kIo, "read_failed",
                "Reading " + placeOf(piece, files) + " failed: " + std::generic_category().message(error) +
                    ". Check the drive and its connection, then try again.",
                {}, true);
}

Status fileShrank(const ReadPiece& piece, const FileTable& files) {
  return Status(Code::kIo, "file_shrank",
                files.name(piece.copy) + " ends at byte " + std::to_string(files.bytes(piece.copy)) + ", but " +
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
      COLIBRI_RETURN_IF_ERROR(files.goBuffered(piece.copy, "The file system refused the first direct read."));
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

PieceQueue::PieceQueue(FileTable& files, const ReadOptions& options) : m_files(&files), m_spans(options.spans) {
  std::vector<DriveOptions> drives = options.drives;
  std::uint32_t used = 1;
  for (std::uint32_t file = 0; file < files.size(); ++file) {
    for (std::uint32_t copy = 0; copy < files.copies(file); ++copy)
      used = std::max(used, files.drive({file, copy}) + 1);
  }
  if (drives.size() < used) drives.resize(used);
  for (DriveOptions& drive : drives) {
    const int depth = std::clamp(drive.queueDepth > 0 ? drive.queueDepth : options.queueDepth, 1, 256);
    m_drives.emplace_back(std::move(drive), depth);
  }
  m_faulty.assign(m_drives.size(), false);
  m_badPrimary.assign(files.size(), false);
}

int PieceQueue::totalDepth() const {
  int depth = 0;
  for (const DriveLoad& drive : m_drives) depth += drive.depth();
  return depth;
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
    m_waiting[static_cast<std::size_t>(request.priority)].requests.push_back(index);
  }
}

void PieceQueue::promote(std::uint64_t tag, ReadPriority priority) {
  Waiting& to = m_waiting[static_cast<std::size_t>(priority)];
  for (std::size_t from = static_cast<std::size_t>(priority) + 1; from < kReadPriorities; ++from) {
    Waiting& waiting = m_waiting[from];
    for (std::size_t i = waiting.first; i < waiting.requests.size();) {
      const std::uint32_t index = waiting.requests[i];
      if (m_active[index].request.tag != tag) {
        ++i;
        continue;
      }
      m_active[index].request.priority = priority;
      to.requests.push_back(index);
      waiting.requests.erase(waiting.requests.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

/// Bit per copy that may be read: not tried yet and not known to be bad. When none is left, those not tried yet: a
/// piece tries every copy once before it fails.
std::uint32_t PieceQueue::usableCopies(std::uint32_t file, std::uint32_t tried) const {
  std::uint32_t usable = 0;
  const std::uint32_t copies = std::min(m_files->copies(file), kMaxCopies);
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    const bool bad = copy == 0 ? m_badPrimary[file] : m_faulty[m_files->drive({file, copy})];
    if (!bad) usable |= 1U << copy;
  }
  usable &= ~tried;
  const std::uint32_t all = copies == kMaxCopies ? ~0U : (1U << copies) - 1;
  return usable != 0 ? usable : all & ~tried;
}

/// The usable copy on the drive that is least loaded for its weight, or, among those that are about as little loaded,
/// the one that had the smallest share so far; false while that drive has no place left.
bool PieceQueue::choose(std::uint32_t file, std::uint32_t tried, std::uint64_t bytes, CopyIndex& copy) const {
  const std::uint32_t usable = usableCopies(file, tried);
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t i = 0; usable >> i != 0; ++i) {
    if ((usable >> i & 1U) != 0) least = std::min(least, m_drives[m_files->drive({file, i})].loadWith(bytes));
  }
  const DriveLoad* best = nullptr;
  for (std::uint32_t i = 0; usable >> i != 0; ++i) {
    if ((usable >> i & 1U) == 0) continue;
    const DriveLoad& drive = m_drives[m_files->drive({file, i})];
    if (drive.loadWith(bytes) > least + kAboutEqualBytes / drive.weight()) continue;
    if (best != nullptr && drive.shareSoFar() >= best->shareSoFar()) continue;
    best = &drive;
    copy = {file, i};
  }
  return best != nullptr && best->hasPlace();
}

void PieceQueue::begin(ReadPiece& piece) {
  piece.begun = DriveLoad::Clock::now();
  piece.done = 0;
  piece.idleCalls = 0;
  m_drives[m_files->drive(piece.copy)].begin(piece.bytes, piece.begun);
  if (piece.priority == ReadPriority::kPredicted) ++m_predictedFlying;
}

bool PieceQueue::takeRetry(ReadPiece& piece) {
  for (std::size_t i = 0; i < m_retries.size(); ++i) {
    CopyIndex copy;
    if (!choose(m_retries[i].copy.file, m_retries[i].tried, m_retries[i].bytes, copy)) continue;
    piece = m_retries[i];
    piece.copy = copy;
    m_retries.erase(m_retries.begin() + static_cast<std::ptrdiff_t>(i));
    begin(piece);
    return true;
  }
  return false;
}

bool PieceQueue::takeFrom(Waiting& waiting, ReadPiece& piece) {
  const std::size_t end = std::min(waiting.requests.size(), waiting.first + kLookAhead);
  for (std::size_t i = waiting.first; i < end; ++i) {
    const std::uint32_t index = waiting.requests[i];
    Active& active = m_active[index];
    const ReadRequest& request = active.request;
    const std::uint64_t bytes = std::min(kReadPieceBytes, request.bytes - active.taken);
    CopyIndex copy;
    if (!choose(request.file, 0, bytes, copy)) continue;
    const std::uint64_t expected = request.expected > active.taken ? request.expected - active.taken : 0;
    piece = ReadPiece{};
    piece.request = index;
    piece.copy = copy;
    piece.offset = request.offset + active.taken;
    piece.bytes = bytes;
    piece.expected = std::min(bytes, expected);
    piece.target = request.target + active.taken;
    piece.buffer = request.buffer;
    piece.priority = request.priority;
    active.taken += bytes;
    ++active.flying;
    if (active.taken == request.bytes) {
      if (i == waiting.first) {
        ++waiting.first;
        dropTaken(waiting.requests, waiting.first);
      } else {
        waiting.requests.erase(waiting.requests.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    begin(piece);
    return true;
  }
  return false;
}

bool PieceQueue::take(ReadPiece& piece) {
  if (!m_retries.empty() && takeRetry(piece)) return true;
  for (std::size_t priority = 0; priority < kReadPriorities; ++priority) {
    if (priority == static_cast<std::size_t>(ReadPriority::kPredicted) &&
        m_predictedFlying >= std::max(1, totalDepth() / 2)) {
      break;
    }
    if (takeFrom(m_waiting[priority], piece)) return true;
  }
  return false;
}

void PieceQueue::markFault(const ReadPiece& piece, const Status& status) {
  const std::uint32_t drive = m_files->drive(piece.copy);
  const std::string& name = m_drives[drive].name();
  if (piece.copy.copy == 0) {
    if (m_badPrimary[piece.copy.file]) return;
    m_badPrimary[piece.copy.file] = true;
    m_files->addNotice(status.message() + " Its bytes are read from a copy on another drive instead.");
  } else {
    if (m_faulty[drive]) return;
    m_faulty[drive] = true;
    m_files->setFault(drive, status.message());
    m_files->addNotice("The copies in " + name + " are not read any more, because one failed: " + status.message());
  }
}

void PieceQueue::finish(const ReadPiece& piece, Status status) {
  const std::uint32_t drive = m_files->drive(piece.copy);
  const auto now = DriveLoad::Clock::now();
  m_drives[drive].end(piece.bytes, piece.done, piece.begun, now);
  if (m_spans != nullptr) m_spans->recordRead(drive, piece.begun, now, piece.done);
  if (piece.priority == ReadPriority::kPredicted) --m_predictedFlying;
  Active& active = m_active[piece.request];
  if (!status.isOk()) {
    const std::uint32_t tried = piece.tried | 1U << piece.copy.copy;
    if (m_files->copies(piece.copy.file) > 1) markFault(piece, status);
    if (usableCopies(piece.copy.file, tried) != 0 && active.status.isOk()) {
      m_retries.push_back(piece);
      m_retries.back().tried = tried;
      return;
    }
    if (active.status.isOk()) active.status = std::move(status);
    if (active.taken < active.request.bytes) {
      active.taken = active.request.bytes;
      Waiting& waiting = m_waiting[static_cast<std::size_t>(active.request.priority)];
      const auto first = waiting.requests.begin() + static_cast<std::ptrdiff_t>(waiting.first);
      waiting.requests.erase(std::find(first, waiting.requests.end(), piece.request));
    }
  }
  --active.flying;
  active.arrived += piece.done;
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

std::vector<DriveCounters> PieceQueue::counters() const {
  std::vector<DriveCounters> all;
  for (std::uint32_t drive = 0; drive < m_drives.size(); ++drive) {
    all.push_back(m_drives[drive].counters());
    m_files->describe(drive, all.back());
  }
  return all;
}

}  // namespace colibri
