#pragma once
// Reads through io_uring: no threads of its own, files registered with the kernel. Linux only, may be missing at run
// time.

#if defined(COLIBRI_HAVE_URING)

#include "io/async_backend.h"

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace colibri {

class UringBackend final : public AsyncBackend {
public:
  /// kUnavailable with the reason when the kernel or its policy grants no ring; `files` is then left as it was.
  static Result<std::unique_ptr<ReadBackend>> create(std::unique_ptr<FileTable>& files, const ReadOptions& options);
  ~UringBackend() override;

  [[nodiscard]] std::string_view name() const override { return "uring"; }
  void registerBuffers(std::span<const std::span<std::byte>> buffers) override;
  void releaseBuffer(std::uint32_t buffer) override;

private:
  UringBackend(std::unique_ptr<FileTable> files, const io_uring& ring, const ReadOptions& options);
  void registerFiles();
  /// Whether reads may name the buffer; registers it when it is the first.
  bool bufferReady(std::uint32_t buffer);
  void start(std::uint32_t place) override;
  void flush() override;
  void collect(std::chrono::nanoseconds wait) override;
  void refuse(int error);

  io_uring m_ring;
  std::vector<std::uint32_t> m_staged;   ///< in the ring, not yet told to the kernel, in order
  std::vector<unsigned> m_firstCopy;     ///< by file: index of its primary among the registered descriptors
  std::vector<bool> m_registeredDirect;  ///< how each registered descriptor is open
  bool m_filesRegistered = false;
  std::vector<std::span<std::byte>> m_buffers;
  std::vector<bool> m_bufferRegistered;
  bool m_buffersGranted = false;
};

}  // namespace colibri

#endif
