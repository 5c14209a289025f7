#if defined(COLIBRI_HAVE_URING)

#include "io/uring_backend.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

// The ring is looked at again after this long even when it said nothing, so that a refused hand-over is repeated.
constexpr std::chrono::milliseconds kLongestWait{100};

}  // namespace

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
    : m_files(std::move(files)), m_ring(ring), m_queue(*m_files, options) {
  m_pieces.resize(static_cast<std::size_t>(m_queue.totalDepth()));
  for (std::uint32_t place = static_cast<std::uint32_t>(m_pieces.size()); place-- > 0;) m_freePlaces.push_back(place);
}

UringBackend::~UringBackend() {
  // The kernel writes to the targets until it has answered.
  while (m_pieces.size() - m_freePlaces.size() > m_staged.size()) {
    io_uring_cqe* cqe = nullptr;
    const int error = io_uring_wait_cqe(&m_ring, &cqe);
    if (error == -EINTR || error == -EAGAIN) continue;
    if (error < 0) break;
    m_freePlaces.push_back(static_cast<std::uint32_t>(cqe->user_data));
    io_uring_cqe_seen(&m_ring, cqe);
  }
  io_uring_queue_exit(&m_ring);
}

void UringBackend::registerFiles() {
  std::vector<int> descriptors;
  for (std::uint32_t file = 0; file < m_files->size(); ++file) {
    m_firstCopy.push_back(static_cast<unsigned>(descriptors.size()));
    for (std::uint32_t copy = 0; copy < m_files->copies(file); ++copy) {
      const FileTable::Handle handle = m_files->handle({file, copy});
      descriptors.push_back(handle.descriptor);
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

void UringBackend::stage(std::uint32_t place) {
  ReadPiece& piece = m_pieces[place];
  const FileTable::Handle handle = m_files->handle(piece.copy);
  piece.direct = handle.direct;
  const unsigned index = m_firstCopy[piece.copy.file] + piece.copy.copy;
  if (m_filesRegistered && m_registeredDirect[index] != handle.direct) {
    if (io_uring_register_files_update(&m_ring, index, &handle.descriptor, 1) == 1) {
      m_registeredDirect[index] = handle.direct;
    }
  }
  const bool registered = m_filesRegistered && m_registeredDirect[index] == handle.direct;
  const int descriptor = registered ? static_cast<int>(index) : handle.descriptor;
  std::byte* target = piece.target + piece.done;
  const auto bytes = static_cast<unsigned>(piece.bytes - piece.done);
  const std::uint64_t offset = piece.offset + piece.done;
  const bool fixed = bufferReady(piece.buffer);
  // There is an entry for every place, and each place is staged at most once.
  io_uring_sqe* sqe = io_uring_get_sqe(&m_ring);
  if (fixed) {
    io_uring_prep_read_fixed(sqe, descriptor, target, bytes, offset, static_cast<int>(piece.buffer));
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
      giveUp(-taken);
    }
  }
}

void UringBackend::giveUp(int error) {
  m_broken = Status(Code::kIo, "io_uring_failed",
                    "The kernel refuses reads through io_uring: " + std::generic_category().message(error) +
                        ". Start again with --io threads.");
  for (const std::uint32_t place : m_staged) finish(place, m_broken);
  m_staged.clear();
}

void UringBackend::pump() {
  while (!m_freePlaces.empty()) {
    const std::uint32_t place = m_freePlaces.back();
    if (!m_queue.take(m_pieces[place])) break;
    m_freePlaces.pop_back();
    if (m_broken.isOk()) {
      stage(place);
    } else {
      finish(place, m_broken);
    }
  }
  flush();
}

void UringBackend::finish(std::uint32_t place, Status status) {
  m_queue.finish(m_pieces[place], std::move(status));
  m_freePlaces.push_back(place);
}

void UringBackend::reap() {
  io_uring_cqe* cqe = nullptr;
  while (io_uring_peek_cqe(&m_ring, &cqe) == 0) {
    const auto place = static_cast<std::uint32_t>(cqe->user_data);
    const int result = cqe->res;
    io_uring_cqe_seen(&m_ring, cqe);
    auto step = advancePiece(m_pieces[place], result, *m_files);
    if (!step) {
      finish(place, step.status());
    } else if (*step == PieceStep::kDone) {
      finish(place, Status::ok());
    } else if (m_broken.isOk()) {
      stage(place);
    } else {
      finish(place, m_broken);
    }
  }
  pump();
}

Status UringBackend::submit(std::span<const ReadRequest> requests) {
  for (const ReadRequest& request : requests) COLIBRI_RETURN_IF_ERROR(m_files->check(request));
  COLIBRI_RETURN_IF_ERROR(m_broken);
  for (const ReadRequest& request : requests) m_queue.add(request);
  pump();
  return Status::ok();
}

std::size_t UringBackend::poll(std::span<ReadCompletion> completions, bool wait) {
  reap();
  while (wait && m_queue.inFlight() > 0 && !m_queue.hasCompletions()) (void)waitReady(kLongestWait);
  return m_queue.takeCompletions(completions);
}

bool UringBackend::waitReady(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  reap();
  while (!m_queue.hasCompletions() && m_queue.inFlight() > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    const auto nanoseconds = std::min<std::chrono::nanoseconds>(left, kLongestWait).count();
    __kernel_timespec limit{};
    limit.tv_nsec = nanoseconds;
    io_uring_cqe* cqe = nullptr;
    (void)io_uring_wait_cqe_timeout(&m_ring, &cqe, &limit);
    reap();
  }
  return m_queue.hasCompletions();
}

}  // namespace colibri

#endif
