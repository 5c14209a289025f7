#include "plan/read_loop.h"

#include <chrono>
#include <thread>

namespace colibri {
namespace {

using Clock = std::chrono::steady_clock;

/// Requests of each place that have not ended.
class Places {
public:
  explicit Places(const ReadLoop& loop) : m_loop(loop), m_left(loop.items, 0) {}
  void begin(std::uint64_t place, std::vector<ReadRequest>& requests) {
    const std::size_t before = requests.size();
    m_loop.next(place, requests);
    m_left[place] = requests.size() - before;
  }
  /// True when that was the item's last.
  bool end(std::uint64_t place) { return --m_left[place] == 0; }

private:
  const ReadLoop& m_loop;
  std::vector<std::size_t> m_left;
};

}  // namespace

Result<ReadRate> keepReading(ReadBackend& backend, const ReadLoop& loop, const Cancellation& cancellation) {
  Places places(loop);
  std::vector<ReadRequest> next;
  for (std::uint64_t place = 0; place < loop.items; ++place) places.begin(place, next);
  std::vector<ReadCompletion> done(loop.items);
  ReadRate rate;
  Status failure;
  bool isRunning = false;
  bool isDone = false;
  Clock::time_point start;
  while (!next.empty() || backend.inFlight() > 0) {
    if (!next.empty()) {
      failure = backend.submit(next);
      next.clear();
      if (!failure.isOk()) isDone = true;
    }
    if (loop.away.count() > 0 && !isDone) std::this_thread::sleep_for(loop.away);
    const std::size_t count = backend.poll(done, true);
    const Clock::time_point now = Clock::now();
    std::vector<std::uint64_t> freed;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!done[i].status.isOk() && failure.isOk()) failure = done[i].status;
      bytes += done[i].bytes;
      if (places.end(done[i].tag)) freed.push_back(done[i].tag);
    }
    if (!failure.isOk() || cancellation.isCancelled()) isDone = true;
    if (isDone) continue;
    if (isRunning) {
      rate.items += freed.size();
      rate.bytes += bytes;
      rate.seconds = std::chrono::duration<double>(now - start).count();
      isDone = loop.enough(rate.seconds);
      if (isDone) continue;
    } else {
      isRunning = true;
      start = now;
    }
    for (const std::uint64_t place : freed) places.begin(place, next);
  }
  COLIBRI_RETURN_IF_ERROR(failure);
  if (cancellation.isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped.");
  return rate;
}

}  // namespace colibri
