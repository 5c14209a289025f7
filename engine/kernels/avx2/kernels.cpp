// AVX2 with FMA and F16C.

#define COLIBRI_ISA isa_avx2
// clang-format off
#include "kernels/avx2/vector.h"
#include "kernels/lanes/all.h"
#include "kernels/avx2/fp4_core.h"
#include "kernels/lanes/linear_fp4.h"
// clang-format on
#include "kernels/isa_tables.h"

namespace colibri {

using namespace isa_avx2;
constexpr Kernels kAvx2Kernels = COLIBRI_KERNEL_TABLE(Isa::kAvx2, "avx2");

}  // namespace colibri
