#include "io/async_backend.h"

#include <algorithm>
#include <utility>

namespace colibri {
namespace {

// The system is looked at again after this long even when it said nothing, so that a refused hand-over is repeated.
constexpr std::chrono::milliseconds kLongestWait{100};

}  // namespace

AsyncBackend::AsyncBackend(std::unique_ptr<FileTable> files, const ReadOptions& options)
    : m_files(std::move(files)), m_queue(*m_files, options) {
  m_pieces.resize(static_cast<std::size_t>(m_queue.totalDepth()));
  for (std::uint32_t place = places(); place-- > 0;) m_freePlaces.push_back(place);
}

void AsyncBackend::pump() {
  while (!m_freePlaces.empty()) {
    const std::uint32_t place = m_freePlaces.back();
    if (!m_queue.take(m_pieces[place])) break;
    m_freePlaces.pop_back();
    if (m_broken.isOk()) {
      start(place);
    } else {
      finish(place, m_broken);
    }
  }
  flush();
}

void AsyncBackend::finish(std::uint32_t place, Status status) {
  m_queue.finish(m_pieces[place], std::move(status));
  m_freePlaces.push_back(place);
}

void AsyncBackend::settle(std::uint32_t place, std::int64_t result) {
  auto step = advancePiece(m_pieces[place], result, *m_files);
  if (!step) {
    finish(place, step.status());
  } else if (*step == PieceStep::kDone) {
    finish(place, Status::ok());
  } else if (m_broken.isOk()) {
    start(place);
  } else {
    finish(place, m_broken);
  }
}

void AsyncBackend::reap(std::chrono::nanoseconds wait) {
  collect(wait);
  pump();
}

Status AsyncBackend::submit(std::span<const ReadRequest> requests) {
  for (const ReadRequest& request : requests) COLIBRI_RETURN_IF_ERROR(m_files->check(request));
  COLIBRI_RETURN_IF_ERROR(m_broken);
  for (const ReadRequest& request : requests) m_queue.add(request);
  pump();
  return Status::ok();
}

std::size_t AsyncBackend::poll(std::span<ReadCompletion> completions, bool wait) {
  reap(std::chrono::nanoseconds(0));
  while (wait && m_queue.inFlight() > 0 && !m_queue.hasCompletions()) (void)waitReady(kLongestWait);
  return m_queue.takeCompletions(completions);
}

bool AsyncBackend::waitReady(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  reap(std::chrono::nanoseconds(0));
  while (!m_queue.hasCompletions() && m_queue.inFlight() > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    reap(std::min<std::chrono::nanoseconds>(left, kLongestWait));
  }
  return m_queue.hasCompletions();
}

}  // namespace colibri
