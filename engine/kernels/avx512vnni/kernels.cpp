// AVX-512 with VNNI: the routed experts' linear alone; everything else is avx512's.

#define COLIBRI_ISA isa_avx512_vnni
// clang-format off
#include "kernels/avx512/vector.h"
#include "kernels/lanes/all.h"
#include "kernels/avx512/fp4_codes.h"
#include "kernels/avx512vnni/fp4_core.h"
#include "kernels/lanes/linear_fp4.h"
// clang-format on
#include "kernels/isa_tables.h"

namespace colibri {

void linearFp4Avx512Vnni(const std::byte* prepared, int rows, const std::uint8_t* w, const std::uint8_t* scale, int k,
                         OutView out) {
  isa_avx512_vnni::linearFp4(prepared, rows, w, scale, k, out);
}

}  // namespace colibri
