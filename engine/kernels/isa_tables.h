#pragma once
// The tables of this build, one per instruction-set file. Callers use kernelsFor(); tests compare all of
// availableKernels().

#include "kernels/kernels.h"

#include <vector>

namespace colibri {

extern const Kernels kScalarKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
/// The only kernel that the byte dot product instructions (VNNI) speed up.
void linearFp4Avx512Vnni(const std::byte* prepared, int rows, const std::uint8_t* w, const std::uint8_t* scale, int k,
                         OutView out);
#endif

/// The tables that this processor can run, slowest first; kAvx512 appears twice (with and without VNNI) where there is
/// VNNI.
std::vector<const Kernels*> availableKernels();

}  // namespace colibri
