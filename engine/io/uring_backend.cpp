#if defined(COLIBRI_HAVE_URING)

#include "io/uring_backend.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace colibri {

Result<std::unique_ptr<ReadBackend>> UringBackend::create(std::unique_ptr<FileTable>& files,
                                                          const ReadOptions& options) {
  const auto depth = static_cast<unsigned>(PieceQueue(*files, options).totalDepth());
  io_uring ring{};
  // Completions need not interrupt a computing thread: they are fetched when it polls. Older kernels lack the flags.
  int error = io_uring_queue_init(depth, &ring, IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG);
  if (error == -EINVAL) error = io_uring_queue_init(depth, &ring, 0);
  if (error < 0) {
    return Status(Code::kUnavailable, "no_io_uring",
                  "The kernel grants no io_uring (" + std::generic_category().message(-error) + ").");
  }
  std::unique_ptr<UringBackend> backend(new UringBackend(std::move(files), ring, options));
  backend->registerFiles();
  return std::unique_ptr<ReadBackend>(std::move(backend));
}

UringBackend::UringBackend(std::unique_ptr<FileTable> files, const io_uring& ring, const ReadOptions& options)
    : AsyncBackend(std::move(files), options), m_ring(ring) {}

UringBackend::~UringBackend() {
  // The kernel writes to the targets until it has answered.
  for (std::size_t flying = usedPlaces() - m_staged.size(); flying > 0;) {
    io_uring_cqe* cqe = nullptr;
    const int error = io_uring_wait_cqe(&m_ring, &cqe);
    if (error == -EINTR || error == -EAGAIN) continue;
    if (error < 0) break;
    --flying;
    io_uring_cqe_seen(&m_ring, cqe);
  }
  io_uring_queue_exit(&m_ring);
}

void UringBackend::registerFiles() {
  std::vector<int> descriptors;
  for (std::uint32_t file = 0; file < files().size(); ++file) {
    m_firstCopy.push_back(static_cast<unsigned>(descriptors.size()));
    for (std::uint32_t copy = 0; copy < files().copies(file); ++copy) {
      const FileTable::Handle handle = files().handle({file, copy});
      descriptors.push_back(handle.file->native());
      m_registeredDirect.push_back(handle.direct);
    }
  }
  // Only saves a reference count a read; without it plain descriptors serve.
  m_filesRegistered = !descriptors.empty() && io_uring_register_files(&m_ring, descriptors.data(),
                                                                      static_cast<unsigned>(descriptors.size())) == 0;
}

void UringBackend::registerBuffers(std::span<const std::span<std::byte>> buffers) {
  if (!m_buffers.empty()) (void)io_uring_unregister_buffers(&m_ring);
  m_buffers.assign(buffers.begin(), buffers.end());
  m_bufferRegistered.assign(buffers.size(), false);
  // The table is empty at first: pages are pinned when a buffer is first read into, not all at once.
  m_buffersGranted =
      !m_buffers.empty() && io_uring_register_buffers_sparse(&m_ring, static_cast<unsigned>(m_buffers.size())) == 0;
}

bool UringBackend::bufferReady(std::uint32_t buffer) {
  if (!m_buffersGranted || buffer >= m_buffers.size()) return false;
  if (m_bufferRegistered[buffer]) return true;
  const iovec memory{m_buffers[buffer].data(), m_buffers[buffer].size()};
  const __u64 tag = 0;
  // Refused when it would pin more than the user may (ulimit -l); plain reads then pin for the time of each read.
  m_buffersGranted = io_uring_register_buffers_update_tag(&m_ring, buffer, &memory, &tag, 1) == 1;
  m_bufferRegistered[buffer] = m_buffersGranted;
  return m_buffersGranted;
}

void UringBackend::releaseBuffer(std::uint32_t buffer) {
  if (buffer >= m_buffers.size() || !m_bufferRegistered[buffer]) return;
  const iovec none{nullptr, 0};
  const __u64 tag = 0;
  (void)io_uring_register_buffers_update_tag(&m_ring, buffer, &none, &tag, 1);
  m_bufferRegistered[buffer] = false;
}

void UringBackend::start(std::uint32_t place) {
  ReadPiece& next = piece(place);
  const FileTable::Handle handle = files().handle(next.copy);
  const int file = handle.file->native();
  next.direct = handle.direct;
  const unsigned index = m_firstCopy[next.copy.file] + next.copy.copy;
  if (m_filesRegistered && m_registeredDirect[index] != handle.direct) {
    if (io_uring_register_files_update(&m_ring, index, &file, 1) == 1) {
      m_registeredDirect[index] = handle.direct;
    }
  }
  const bool registered = m_filesRegistered && m_registeredDirect[index] == handle.direct;
  const int descriptor = registered ? static_cast<int>(index) : file;
  std::byte* target = next.target + next.done;
  const auto bytes = static_cast<unsigned>(next.bytes - next.done);
  const std::uint64_t offset = next.offset + next.done;
  const bool fixed = bufferReady(next.buffer);
  // There is an entry for every place, and each place is staged at most once.
  io_uring_sqe* sqe = io_uring_get_sqe(&m_ring);
  if (fixed) {
    io_uring_prep_read_fixed(sqe, descriptor, target, bytes, offset, static_cast<int>(next.buffer));
  } else {
    io_uring_prep_read(sqe, descriptor, target, bytes, offset);
  }
  sqe->flags |= static_cast<std::uint8_t>(registered ? IOSQE_FIXED_FILE : 0);
  sqe->user_data = place;
  m_staged.push_back(place);
}

void UringBackend::flush() {
  while (!m_staged.empty()) {
    const int taken = io_uring_submit(&m_ring);
    if (taken > 0) {
      m_staged.erase(m_staged.begin(), m_staged.begin() + taken);
    } else if (taken == 0 || taken == -EAGAIN || taken == -EBUSY) {
      return;  // The kernel is short of memory or the ring is full of answers: again at the next poll.
    } else if (taken != -EINTR) {
      refuse(-taken);
    }
  }
}

void UringBackend::refuse(int error) {
  giveUp(Status(Code::kIo, "io_uring_failed",
                "The kernel refuses reads through io_uring: " + std::generic_category().message(error) +
                    ". Start again with --io threads."));
  for (const std::uint32_t place : m_staged) finish(place, broken());
  m_staged.clear();
}

void UringBackend::collect(std::chrono::nanoseconds wait) {
  io_uring_cqe* cqe = nullptr;
  if (wait.count() > 0) {
    __kernel_timespec limit{};
    limit.tv_sec = wait / std::chrono::seconds(1);
    limit.tv_nsec = (wait % std::chrono::seconds(1)).count();
    (void)io_uring_wait_cqe_timeout(&m_ring, &cqe, &limit);
  }
  while (io_uring_peek_cqe(&m_ring, &cqe) == 0) {
    const auto place = static_cast<std::uint32_t>(cqe->user_data);
    const int result = cqe->res;
    io_uring_cqe_seen(&m_ring, cqe);
    settle(place, result);
  }
}

}  // namespace colibri

#endif
