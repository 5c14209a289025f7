#pragma once
// What the backends share that hand many reads to the system and fetch its answers: a place for each call in flight,
// and pieces that are continued until they are done.

#include "io/file_table.h"
#include "io/piece_queue.h"
#include "io/read_backend.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace colibri {

/// Has no threads. A backend of its own kind says how a call is begun and how answers are fetched.
class AsyncBackend : public ReadBackend {
public:
  Status submit(std::span<const ReadRequest> requests) override;
  void promote(std::uint64_t tag, ReadPriority priority) override { m_queue.promote(tag, priority); }
  std::size_t poll(std::span<ReadCompletion> completions, bool wait) override;
  bool waitReady(std::chrono::milliseconds timeout) override;
  [[nodiscard]] std::size_t inFlight() const override { return m_queue.inFlight(); }
  [[nodiscard]] FileAccess access(std::uint32_t file) const override { return m_files->access({file, 0}); }
  [[nodiscard]] std::vector<DriveCounters> driveCounters() const override { return m_queue.counters(); }
  std::vector<std::string> takeNotices() override { return m_files->takeNotices(); }

protected:
  AsyncBackend(std::unique_ptr<FileTable> files, const ReadOptions& options);

  /// Begins the next call of the place's piece. Its answer goes to settle(), but never from inside start().
  virtual void start(std::uint32_t place) = 0;
  /// Called after some start(): the system must know of them now.
  virtual void flush() {}
  /// Calls settle() for every answer that is there; when there is none, waits for one, at most `wait` (0: not at all).
  virtual void collect(std::chrono::nanoseconds wait) = 0;

  [[nodiscard]] ReadPiece& piece(std::uint32_t place) { return m_pieces[place]; }
  [[nodiscard]] std::uint32_t places() const { return static_cast<std::uint32_t>(m_pieces.size()); }
  [[nodiscard]] std::size_t usedPlaces() const { return m_pieces.size() - m_freePlaces.size(); }
  [[nodiscard]] const FileTable& files() const { return *m_files; }
  /// The call of the place brought `result` bytes, or -errno.
  void settle(std::uint32_t place, std::int64_t result);
  void finish(std::uint32_t place, Status status);
  /// The system refuses work for good: nothing is begun any more, and what was to be ends with `why`.
  void giveUp(Status why) { m_broken = std::move(why); }
  [[nodiscard]] const Status& broken() const { return m_broken; }

private:
  /// Fills all places as far as there is work.
  void pump();
  void reap(std::chrono::nanoseconds wait);

  std::unique_ptr<FileTable> m_files;
  PieceQueue m_queue;
  std::vector<ReadPiece> m_pieces;  ///< by place
  std::vector<std::uint32_t> m_freePlaces;
  Status m_broken;
};

}  // namespace colibri
