#pragma once
// Reads by a pool of threads that each wait for one call: works everywhere, costs one thread a read in flight.

#include "io/file_table.h"
#include "io/piece_queue.h"
#include "io/read_backend.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace colibri {

class ThreadBackend final : public ReadBackend {
public:
  /// Starts a thread for each place of each drive; fewer when the system grants fewer, kUnavailable when it grants
  /// none.
  static Result<std::unique_ptr<ReadBackend>> create(std::unique_ptr<FileTable> files, const ReadOptions& options,
                                                     std::string fallbackReason);
  ~ThreadBackend() override;

  Status submit(std::span<const ReadRequest> requests) override;
  void promote(std::uint64_t tag, ReadPriority priority) override;
  std::size_t poll(std::span<ReadCompletion> completions, bool wait) override;
  bool waitReady(std::chrono::milliseconds timeout) override;
  [[nodiscard]] std::size_t inFlight() const override;
  [[nodiscard]] FileAccess access(std::uint32_t file) const override { return m_files->access({file, 0}); }
  [[nodiscard]] std::string_view name() const override { return "threads"; }
  [[nodiscard]] std::string fallbackReason() const override { return m_fallbackReason; }
  [[nodiscard]] std::vector<DriveCounters> driveCounters() const override { return m_queue.counters(); }
  std::vector<std::string> takeNotices() override { return m_files->takeNotices(); }

private:
  ThreadBackend(std::unique_ptr<FileTable> files, const ReadOptions& options, std::string fallbackReason);
  void work();
  Status read(ReadPiece& piece);

  std::unique_ptr<FileTable> m_files;
  std::string m_fallbackReason;
  mutable std::mutex m_mutex;
  std::condition_variable m_workThere;
  std::condition_variable m_readDone;
  PieceQueue m_queue;   ///< under m_mutex
  bool m_stop = false;  ///< under m_mutex
  std::vector<std::thread> m_threads;
};

}  // namespace colibri
