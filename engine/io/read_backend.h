#pragma once
// Reading file ranges into memory, many at a time, without blocking the caller.

#include <colibri/status.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace colibri {

/// One read. With direct I/O `offset`, `bytes` and `target` are multiples of 4096; the last piece of a file may end
/// early
/// (`expected` says how many bytes the file holds there).
struct ReadRequest {
  std::uint32_t file = 0;  ///< index into the list given at open
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;      ///< to ask for
  std::uint64_t expected = 0;   ///< bytes that must arrive (<= bytes)
  std::byte* target = nullptr;  ///< stays valid until the completion is taken
  std::uint64_t tag = 0;        ///< handed back unchanged
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

enum class IoKind { kAuto, kUring, kThreads };

struct ReadOptions {
  IoKind kind = IoKind::kAuto;
  bool direct = true;
  int queueDepth = 8;  ///< pieces in flight at most (1 to 256); more wait inside the backend
};

/// Reads for one owner thread: submit, poll and waitReady are called by that thread alone; access, name and
/// fallbackReason by any. Completions arrive in any order. The destructor waits for reads that the system has already
/// begun.
class ReadBackend {
public:
  virtual ~ReadBackend() = default;
  /// Queues all requests, or none and returns why (kInternal: no such file, or misaligned for a direct read). Never
  /// blocks on the drive. Short reads are continued inside; a file that ends before `expected` is a kIo completion.
  virtual Status submit(std::span<const ReadRequest> requests) = 0;
  /// Takes finished reads, at most completions.size(); with `wait` blocks until at least one (none in flight: returns
  /// 0).
  virtual std::size_t poll(std::span<ReadCompletion> completions, bool wait) = 0;
  /// Blocks until a completion can be taken, at most for `timeout`; false when there is none then.
  virtual bool waitReady(std::chrono::milliseconds timeout) = 0;
  /// Requests submitted whose completion has not been taken.
  [[nodiscard]] virtual std::size_t inFlight() const = 0;
  [[nodiscard]] virtual FileAccess access(std::uint32_t file) const = 0;
  /// "uring" or "threads".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Why kAuto did not give the fastest way of reading, as a sentence; empty when it did.
  [[nodiscard]] virtual std::string fallbackReason() const { return {}; }
};

/// Opens every path read-only. A file that refuses O_DIRECT is read buffered, with the reason in access().
/// kIo when a file cannot be opened; kUnavailable when `kind` was asked for and is not there.
Result<std::unique_ptr<ReadBackend>> openReadBackend(std::span<const std::filesystem::path> paths,
                                                     const ReadOptions& options);

}  // namespace colibri
