#pragma once
// Reads through io_uring: no threads of its own, files registered with the kernel. Linux only, may be missing at run
// time.

#if defined(COLIBRI_HAVE_URING)

#include "io/file_table.h"
#include "io/piece_queue.h"
#include "io/read_backend.h"

#include <liburing.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace colibri {

class UringBackend final : public ReadBackend {
public:
  /// kUnavailable with the reason when the kernel or its policy grants no ring; `files` is then left as it was.
  static Result<std::unique_ptr<ReadBackend>> create(std::unique_ptr<FileTable>& files, int queueDepth);
  ~UringBackend() override;

  Status submit(std::span<const ReadRequest> requests) override;
  std::size_t poll(std::span<ReadCompletion> completions, bool wait) override;
  bool waitReady(std::chrono::milliseconds timeout) override;
  [[nodiscard]] std::size_t inFlight() const override { return m_queue.inFlight(); }
  [[nodiscard]] FileAccess access(std::uint32_t file) const override { return m_files->access(file); }
  [[nodiscard]] std::string_view name() const override { return "uring"; }

private:
  UringBackend(std::unique_ptr<FileTable> files, const io_uring& ring, int queueDepth);
  void registerFiles();
  /// Fills the ring up to the depth and tells the kernel.
  void pump();
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
  std::vector<bool> m_registeredDirect;  ///< how each registered file is open
  bool m_filesRegistered = false;
  Status m_broken;  ///< set when the ring refuses work for good
};

}  // namespace colibri

#endif
