#include "kernels/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstdint>
#endif

namespace colibri {

#if defined(__x86_64__)
namespace {

/// Register sets that the operating system saves (XCR0).
std::uint64_t savedRegisterSets() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<std::uint64_t>(high) << 32 | low;
}

constexpr bool hasBit(unsigned word, int bit) {
  return ((word >> bit) & 1U) != 0;
}

}  // namespace

CpuFeatures detectCpuFeatures() {
  CpuFeatures features;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return features;
  constexpr int kFma = 12;
  constexpr int kXsaveByOs = 27;
  constexpr int kAvx = 28;
  constexpr int kF16c = 29;
  if (!hasBit(c, kFma) || !hasBit(c, kXsaveByOs) || !hasBit(c, kAvx) || !hasBit(c, kF16c)) return features;
  const std::uint64_t saved = savedRegisterSets();
  constexpr std::uint64_t kYmm = 0x6;
  constexpr std::uint64_t kZmm = 0xe6;
  if ((saved & kYmm) != kYmm || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return features;
  constexpr int kAvx2 = 5;
  features.avx2 = hasBit(b, kAvx2);
  constexpr int kAvx512F = 16;
  constexpr int kAvx512Dq = 17;
  constexpr int kAvx512Bw = 30;
  constexpr int kAvx512Vl = 31;
  features.avx512 = features.avx2 && (saved & kZmm) == kZmm && hasBit(b, kAvx512F) && hasBit(b, kAvx512Dq) &&
                    hasBit(b, kAvx512Bw) && hasBit(b, kAvx512Vl);
  constexpr int kVnni = 11;
  features.avx512Vnni = features.avx512 && hasBit(c, kVnni);
  return features;
}
#else
CpuFeatures detectCpuFeatures() {
  return {};
}
#endif

}  // namespace colibri
