#include "io/thread_backend.h"

#include <system_error>
#include <utility>

namespace colibri {

ThreadBackend::ThreadBackend(std::unique_ptr<FileTable> files, const ReadOptions& options, std::string fallbackReason)
    : m_files(std::move(files)), m_fallbackReason(std::move(fallbackReason)), m_queue(*m_files, options) {}

Result<std::unique_ptr<ReadBackend>> ThreadBackend::create(std::unique_ptr<FileTable> files, const ReadOptions& options,
                                                           std::string fallbackReason) {
  std::unique_ptr<ThreadBackend> backend(new ThreadBackend(std::move(files), options, std::move(fallbackReason)));
  const int threads = backend->m_queue.totalDepth();
  try {
    for (int i = 0; i < threads; ++i) {
      backend->m_threads.emplace_back([raw = backend.get()] { raw->work(); });
    }
  } catch (const std::system_error& error) {
    if (backend->m_threads.empty()) {
      return Status(Code::kUnavailable, "no_read_threads",
                    std::string("The system grants no thread for reading: ") + error.what() +
                        ". Close other programs or raise the limit on threads (ulimit -u).");
    }
  }
  return std::unique_ptr<ReadBackend>(std::move(backend));
}

ThreadBackend::~ThreadBackend() {
  {
    const std::lock_guard lock(m_mutex);
    m_stop = true;
  }
  m_workThere.notify_all();
  for (std::thread& thread : m_threads) thread.join();
}

Status ThreadBackend::read(ReadPiece& piece) {
  while (true) {
    const FileTable::Handle handle = m_files->handle(piece.copy);
    piece.direct = handle.direct;
    const std::int64_t result =
        handle.file->readAt(piece.target + piece.done, piece.bytes - piece.done, piece.offset + piece.done);
    COLIBRI_ASSIGN_OR_RETURN(const PieceStep step, advancePiece(piece, result, *m_files));
    if (step == PieceStep::kDone) return Status::ok();
  }
}

void ThreadBackend::work() {
  std::unique_lock lock(m_mutex);
  while (!m_stop) {
    ReadPiece piece;
    if (!m_queue.take(piece)) {
      m_workThere.wait(lock);
      continue;
    }
    lock.unlock();
    Status status = read(piece);
    lock.lock();
    m_queue.finish(piece, std::move(status));
    // A piece to be read again, or one that only this drive can read, may be another thread's.
    m_workThere.notify_one();
    if (m_queue.hasCompletions()) m_readDone.notify_one();
  }
}

Status ThreadBackend::submit(std::span<const ReadRequest> requests) {
  for (const ReadRequest& request : requests) COLIBRI_RETURN_IF_ERROR(m_files->check(request));
  {
    const std::lock_guard lock(m_mutex);
    for (const ReadRequest& request : requests) m_queue.add(request);
  }
  m_workThere.notify_all();
  return Status::ok();
}

void ThreadBackend::promote(std::uint64_t tag, ReadPriority priority) {
  const std::lock_guard lock(m_mutex);
  m_queue.promote(tag, priority);
}

std::size_t ThreadBackend::poll(std::span<ReadCompletion> completions, bool wait) {
  std::unique_lock lock(m_mutex);
  if (wait) m_readDone.wait(lock, [this] { return m_queue.hasCompletions() || m_queue.inFlight() == 0; });
  return m_queue.takeCompletions(completions);
}

bool ThreadBackend::waitReady(std::chrono::milliseconds timeout) {
  std::unique_lock lock(m_mutex);
  if (m_queue.inFlight() == 0) return false;
  return m_readDone.wait_for(lock, timeout, [this] { return m_queue.hasCompletions(); });
}

std::size_t ThreadBackend::inFlight() const {
  const std::lock_guard lock(m_mutex);
  return m_queue.inFlight();
}

}  // namespace colibri
