#pragma once
// Reads through io_uring: no threads of its own, files registered with the kernel. Linux only, may be missing at run
// time.

#if defined(COLIBRI_HAVE_URING)

#include "io/file_table.h"
#include "io/piece_queue.h"
#include "io/read_backend.h"

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace colibri {

class UringBackend final : public ReadBackend {
public:
  /// kUnavailable with the reason when the kernel or its policy grants no ring; `files` is then left as it was.
  static Result<std::unique_ptr<ReadBackend>> create(std::unique_ptr<FileTable>& files, const ReadOptions& options);
  ~UringBackend() override;

  Status submit(std::span<const ReadRequest> requests) override;
  void promote(std::uint64_t tag, ReadPriority priority) override { m_queue.promote(tag, priority); }
  std::size_t poll(std::span<ReadCompletion> completions, bool wait) override;
  bool waitReady(std::chrono::milliseconds timeout) override;
  [[nodiscard]] std::size_t inFlight() const override { return m_queue.inFlight(); }
  [[nodiscard]] FileAccess access(std::uint32_t file) const override { return m_files->access({file, 0}); }
  [[nodiscard]] std::string_view name() const override { return "uring"; }
  [[nodiscard]] std::vector<DriveCounters> driveCounters() const override { return m_queue.counters(); }
  std::vector<std::string> takeNotices() override { return m_files->takeNotices(); }
  void registerBuffers(std::span<const std::span<std::byte>> buffers) override;
  void releaseBuffer(std::uint32_t buffer) override;

private:
  UringBackend(std::unique_ptr<FileTable> files, const io_uring& ring, const ReadOptions& options);
  void registerFiles();
  /// Fills the ring up to the depth and tells the kernel.
  void pump();
  /// Whether reads may name the buffer; registers it when it is the first.
  bool bufferReady(std::uint32_t buffer);
  void stage(std::uint32_t place);
  void flush();
  /// Handles everything that has come back; refills.
  void reap();
  void finish(std::uint32_t place, Status status);
  void giveUp(int error);

  std::unique_ptr<FileTable> m_files;
  io_uring m_ring;
  PieceQueue m_queue;
  std::vector<ReadPiece> m_pieces;  ///< by place; the place is the ring's user data
  std::vector<std::uint32_t> m_freePlaces;
  std::vector<std::uint32_t> m_staged;   ///< in the ring, not yet told to the kernel, in order
  std::vector<unsigned> m_firstCopy;     ///< by file: index of its primary among the registered descriptors
  std::vector<bool> m_registeredDirect;  ///< how each registered descriptor is open
  bool m_filesRegistered = false;
  std::vector<std::span<std::byte>> m_buffers;
  std::vector<bool> m_bufferRegistered;
  bool m_buffersGranted = false;
  Status m_broken;  ///< set when the ring refuses work for good
};

}  // namespace colibri

#endif
