#pragma once
// Reading file ranges into memory, many at a time, without blocking the caller.

#include <colibri/status.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace colibri {

/// One read. With direct I/O `offset`, `bytes` and `target` are multiples of 4096; the last piece of a file may end early
/// (`expected` says how many bytes the file holds there).
struct ReadRequest {
  std::uint32_t file = 0;         ///< index into the list given at open
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;        ///< to ask for
  std::uint64_t expected = 0;     ///< bytes that must arrive (<= bytes)
  std::byte* target = nullptr;    ///< stays valid until the completion is taken
  std::uint64_t tag = 0;          ///< handed back unchanged
};

struct ReadCompletion {
  std::uint64_t tag = 0;
  Status status;
  std::uint64_t bytes = 0;        ///< bytes that arrived
};

/// How a file is being read, and why not better.
struct FileAccess {
  bool direct = false;
  std::string reason;             ///< empty when direct; else a sentence
};

enum class IoKind { kAuto, kUring, kThreads };

struct ReadOptions {
  IoKind kind = IoKind::kAuto;
  bool direct = true;
  int queueDepth = 8;             ///< reads in flight at most; more wait inside the backend
};

/// Reads for one owner thread: submit and poll are called by that thread alone. Completions arrive in any order.
class ReadBackend {
 public:
  virtual ~ReadBackend() = default;
  /// Queues all requests; never blocks on the drive. Short reads are continued inside.
  virtual Status submit(std::span<const ReadRequest> requests) = 0;
  /// Takes finished reads, at most completions.size(); with `wait` blocks until at least one (none in flight: returns 0).
  virtual std::size_t poll(std::span<ReadCompletion> completions, bool wait) = 0;
  [[nodiscard]] virtual std::size_t inFlight() const = 0;
  [[nodiscard]] virtual FileAccess access(std::uint32_t file) const = 0;
  /// "uring" or "threads".
  [[nodiscard]] virtual std::string_view name() const = 0;
};

/// Opens every path read-only. A file that refuses O_DIRECT is read buffered, with the reason in access().
/// kIo when a file cannot be opened; kUnavailable when `kind` was asked for and is not there.
Result<std::unique_ptr<ReadBackend>> openReadBackend(std::span<const std::filesystem::path> paths,
                                                     const ReadOptions& options);

}  // namespace colibri
