#pragma once

namespace colibri {

/// What this processor has and the operating system saves on a task switch.
struct CpuFeatures {
  bool avx2 = false;        ///< AVX2, FMA and F16C
  bool avx512 = false;      ///< AVX-512 F, BW, VL and DQ (and avx2)
  bool avx512Vnni = false;  ///< and VNNI
};

/// Asks the processor (CPUID, XGETBV). Any thread; no state.
CpuFeatures detectCpuFeatures();

}  // namespace colibri
