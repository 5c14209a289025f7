#pragma once
// Reading file ranges into memory, many at a time, from one or several drives, without blocking the caller.

#include <colibri/drive_counters.h>
#include <colibri/status.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

class SpanRecorder;

/// Who is waiting. Reads of a better class are begun first; within a class, first come, first served.
enum class ReadPriority : std::uint8_t {
  kDemand,    ///< computation waits for it
  kCertain,   ///< will be demanded for sure
  kPredicted  ///< may be demanded; never takes more than half of a drive's places
};
inline constexpr std::size_t kReadPriorities = 3;

/// Request::buffer of a target in no registered buffer.
inline constexpr std::uint32_t kNoBuffer = 0xffffffffU;

/// One read. With direct I/O `offset`, `bytes` and `target` are multiples of 4096; the last piece of a file may end
/// early (`expected` says how many bytes the file holds there).
struct ReadRequest {
  std::uint32_t file = 0;  ///< index into the list given at open
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;      ///< to ask for
  std::uint64_t expected = 0;   ///< bytes that must arrive (<= bytes)
  std::byte* target = nullptr;  ///< stays valid until the completion is taken
  std::uint64_t tag = 0;        ///< handed back unchanged
  ReadPriority priority = ReadPriority::kDemand;
  std::uint32_t buffer = kNoBuffer;  ///< index into registerBuffers()' list when the whole target lies in that one
};

struct ReadCompletion {
  std::uint64_t tag = 0;
  Status status;                                   ///< kIo names file and offset
  std::uint64_t bytes = 0;                         ///< bytes that arrived
  std::chrono::steady_clock::time_point finished;  ///< when the backend saw it end
};

/// Alignment of offsets, sizes and targets of direct reads.
inline constexpr std::uint64_t kReadAlignment = 4096;
/// Longer requests are read in pieces of this size, so that one request fills the queue.
inline constexpr std::uint64_t kReadPieceBytes = std::uint64_t{2} << 20;

[[nodiscard]] inline constexpr std::uint64_t alignDown(std::uint64_t offset) {
  return offset / kReadAlignment * kReadAlignment;
}
[[nodiscard]] inline constexpr std::uint64_t alignUp(std::uint64_t offset) {
  return alignDown(offset + kReadAlignment - 1);
}

/// How a file is being read, and why not better.
struct FileAccess {
  bool direct = false;
  std::string reason;  ///< empty when direct; else a sentence
};

enum class IoKind {
  kAuto,    ///< io_uring or, on Windows, overlapped calls; threads where the system grants neither
  kUring,   ///< Linux only
  kThreads  ///< everywhere
};

/// A file on one of the drives.
struct FileCopy {
  std::filesystem::path path;
  std::uint32_t drive = 0;  ///< index into ReadOptions::drives
};
/// A file with all its copies, which hold the same bytes; the first is the primary.
using ReadFile = std::vector<FileCopy>;

struct DriveOptions {
  std::string name;    ///< folder, for counters and notices
  int queueDepth = 0;  ///< 0: ReadOptions::queueDepth
  double weight = 1;   ///< > 0: share of the reads where several drives have a copy
};

struct ReadOptions {
  IoKind kind = IoKind::kAuto;
  bool direct = true;
  int queueDepth = 8;                  ///< pieces in flight on a drive at most (1 to 256); more wait inside the backend
  std::vector<DriveOptions> drives{};  ///< empty: one drive
  SpanRecorder* spans = nullptr;       ///< gets every read; may be null, else outlives the backend
};

/// Reads for one owner thread: submit, promote, poll, waitReady and the buffer calls are made by that thread alone;
/// the others by any. Completions arrive in any order. The destructor waits for reads that the system has already
/// begun. Where a file has several copies, each piece is read from the drive with the fewest outstanding bytes for its
/// weight; a piece whose read fails is read again from another copy, a mirror that failed is not read any more, and
/// takeNotices() says so.
class ReadBackend {
public:
  virtual ~ReadBackend() = default;
  /// Queues all requests, or none and returns why (kInternal: no such file, or misaligned for a direct read). Never
  /// blocks on the drive. Short reads are continued inside; a file that ends before `expected` is a kIo completion.
  virtual Status submit(std::span<const ReadRequest> requests) = 0;
  /// Gives the waiting requests with this tag a better priority; what has begun is not touched.
  virtual void promote(std::uint64_t tag, ReadPriority priority) = 0;
  /// Takes finished reads, at most completions.size(); with `wait` blocks until at least one (none in flight: returns
  /// 0).
  virtual std::size_t poll(std::span<ReadCompletion> completions, bool wait) = 0;
  /// Blocks until a completion can be taken, at most for `timeout`; false when there is none then.
  virtual bool waitReady(std::chrono::milliseconds timeout) = 0;
  /// Requests submitted whose completion has not been taken.
  [[nodiscard]] virtual std::size_t inFlight() const = 0;
  /// How the primary copy of a file is read.
  [[nodiscard]] virtual FileAccess access(std::uint32_t file) const = 0;
  /// "uring", "overlapped" (Windows) or "threads".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Why kAuto did not give the fastest way of reading, as a sentence; empty when it did.
  [[nodiscard]] virtual std::string fallbackReason() const { return {}; }
  /// A row each drive, in the order of ReadOptions::drives.
  [[nodiscard]] virtual std::vector<DriveCounters> driveCounters() const { return {}; }
  /// Sentences about copies that failed since the last call.
  virtual std::vector<std::string> takeNotices() { return {}; }
  /// Names memory that many reads will go to, so that the system may keep it ready; each buffer is registered when it
  /// is first read into, if the system grants that at all. Replaces the former list. Nothing may be in flight.
  virtual void registerBuffers(std::span<const std::span<std::byte>> buffers) { (void)buffers; }
  /// The system lets go of a registered buffer, so that its pages can be given back. Nothing may be in flight to it.
  virtual void releaseBuffer(std::uint32_t buffer) { (void)buffer; }
};

/// Opens every copy of every file read-only. One that refuses direct reads is read buffered, with the reason in
/// access(). kIo when a primary cannot be opened (a mirror's copy that cannot is left out with a notice); kUnavailable
/// when `kind` was asked for and is not there.
Result<std::unique_ptr<ReadBackend>> openReadBackend(std::span<const ReadFile> files, const ReadOptions& options);
/// The same for files without further copies on one drive.
Result<std::unique_ptr<ReadBackend>> openReadBackend(std::span<const std::filesystem::path> paths,
                                                     const ReadOptions& options);

}  // namespace colibri
