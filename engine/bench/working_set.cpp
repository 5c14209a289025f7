#include "bench/working_set.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace colibri {
namespace {

/// Reads every byte once with the widest loads there are.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
std::uint64_t
readAll(const std::uint64_t* p, std::size_t n) {
  std::uint64_t sums[64] = {};
  for (std::size_t i = 0; i + 64 <= n; i += 64) {
    for (std::size_t j = 0; j < 64; ++j) sums[j] += p[i + j];
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t s : sums) sum += s;
  return sum;
}

}  // namespace

double threadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Result<WorkingSet> WorkingSet::create(std::size_t bytes) {
  COLIBRI_ASSIGN_OR_RETURN(Buffer memory, Buffer::allocateUntouched(bytes, MemoryTag::kScratch, nullptr));
  // As scales the bytes 96 to 127 keep everything finite.
  std::uint64_t bits = 0x9e3779b97f4a7c15U;
  auto* words = memory.as<std::uint64_t>();
  for (std::size_t i = 0; i < bytes / 8; ++i) {
    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    words[i] = (bits & 0x1f1f1f1f1f1f1f1fU) | 0x6060606060606060U;
  }
  return WorkingSet(std::move(memory));
}

double WorkingSet::readRate(int passes) const {
  double best = 0;
  // What is read must count as used, or the compiler may leave it out.
  volatile std::uint64_t sink = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const double start = threadSeconds();
    sink = readAll(m_memory.as<std::uint64_t>(), m_memory.size() / 8);
    best = std::max(best, static_cast<double>(m_memory.size()) / std::max(threadSeconds() - start, 1e-9));
  }
  (void)sink;
  return best;
}

}  // namespace colibri
