// AVX-512 F, BW, VL and DQ.

#define COLIBRI_ISA isa_avx512
// clang-format off
#include "kernels/avx512/vector.h"
#include "kernels/lanes/all.h"
#include "kernels/avx512/fp4_codes.h"
#include "kernels/avx512/fp4_core.h"
#include "kernels/lanes/linear_fp4.h"
// clang-format on
#include "kernels/isa_tables.h"

namespace colibri {

using namespace isa_avx512;
constexpr Kernels kAvx512Kernels = COLIBRI_KERNEL_TABLE(Isa::kAvx512, "avx512");

}  // namespace colibri
