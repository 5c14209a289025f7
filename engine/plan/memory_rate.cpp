#include "plan/memory_rate.h"

#include "base/buffer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

namespace colibri {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTime{60};
constexpr std::size_t kLanes = 32;
/// Read in well under a millisecond, so that most blocks are not interrupted.
constexpr std::size_t kBlockWords = (std::size_t{2} << 20) / sizeof(std::uint64_t);

/// Sums 32 independent lanes, which the compiler turns into the widest loads there are.
std::uint64_t readAll(const std::uint64_t* words, std::size_t count) {
  std::uint64_t lanes[kLanes] = {};
  for (std::size_t i = 0; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += words[i + lane];
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : lanes) sum += lane;
  return sum;
}

}  // namespace

double measureMemoryRate(int threads, std::uint64_t bytes) {
  const auto team = static_cast<std::size_t>(std::clamp(threads, 1, 256));
  const std::size_t share = bytes / team / sizeof(std::uint64_t) / kLanes * kLanes;
  if (share == 0) return 0;
  const std::size_t size = share * team * sizeof(std::uint64_t);
  const Result<Buffer> buffer = Buffer::allocateUntouched(size, MemoryTag::kScratch, nullptr);
  if (!buffer) return 0;
  // Pages that nobody has written may all be the same page of zeros.
  std::memset(buffer->data(), 1, size);

  std::atomic<std::uint64_t> sink{0};
  std::vector<double> rates(team, 0.0);
  const Clock::time_point end = Clock::now() + kTime;
  const auto work = [&](std::size_t member) {
    const std::uint64_t* const words = buffer->as<std::uint64_t>() + member * share;
    std::vector<double> seen;
    do {
      for (std::size_t at = 0; at < share; at += kBlockWords) {
        const std::size_t count = std::min(kBlockWords, share - at);
        const Clock::time_point start = Clock::now();
        sink.fetch_add(readAll(words + at, count), std::memory_order_relaxed);
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        if (seconds > 0) seen.push_back(static_cast<double>(count * sizeof(*words)) / seconds);
      }
    } while (Clock::now() < end);
    if (seen.empty()) return;
    // Other programs interrupt some blocks; the quickest may have been in a cache.
    const auto upper = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() * 3 / 4);
    std::nth_element(seen.begin(), upper, seen.end());
    rates[member] = *upper;
  };
  std::vector<std::thread> others;
  try {
    for (std::size_t member = 1; member < team; ++member) others.emplace_back(work, member);
  } catch (const std::system_error&) {
    // Fewer threads than asked for measure less; those that run are joined below.
  }
  work(0);
  for (std::thread& thread : others) thread.join();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sink.load() == 0 ? 0 : sum;
}

}  // namespace colibri
