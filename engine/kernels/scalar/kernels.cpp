// The reference: the 16-lane templates over plain arrays.

#define COLIBRI_ISA isa_scalar
// clang-format off
#include "kernels/scalar/vector.h"
#include "kernels/lanes/all.h"
#include "kernels/scalar/fp4_core.h"
#include "kernels/lanes/linear_fp4.h"
// clang-format on
#include "kernels/isa_tables.h"

namespace colibri {

using namespace isa_scalar;
constexpr Kernels kScalarKernels = COLIBRI_KERNEL_TABLE(Isa::kScalar, "scalar");

}  // namespace colibri
