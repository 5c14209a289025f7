#pragma once
// The lane-wise kernels in the order in which they use one another. An instruction-set file defines COLIBRI_ISA,
// includes its vector.h, this file, its fp4_core.h and lanes/linear_fp4.h, and defines its constant with
// COLIBRI_KERNEL_TABLE.

#include "kernels/kernels.h"
#include "kernels/prepared_block.h"

#include <cstddef>
#include <cstdint>
// clang-format off
#include "kernels/lanes/functions.h"
#include "kernels/lanes/linear.h"
#include "kernels/lanes/quantize.h"
#include "kernels/lanes/norm.h"
#include "kernels/lanes/hyper.h"
#include "kernels/lanes/attention.h"
#include "kernels/lanes/packed.h"
#include "kernels/lanes/gates.h"
// clang-format on

#define COLIBRI_KERNEL_TABLE(isa_, name_)                                                                         \
  ::colibri::Kernels {                                                                                            \
    .isa = isa_, .name = name_, .linearBf16 = linearBf16, .linearF32 = linearF32, .linearFp8 = linearFp8,         \
    .linearFp4 = linearFp4, .linearFp4F32 = linearFp4F32, .qdqE4m3 = qdqE4m3, .quantizeE4m3 = quantizeE4m3,       \
    .prepareFp4 = prepareFp4, .qdqE2m1 = qdqE2m1, .qdqE2m1Groups16 = qdqE2m1Groups16, .roundBf16 = roundBf16,     \
    .decodeBf16 = decodeBf16, .decodeE4m3 = decodeE4m3, .encodeE2m1 = encodeE2m1, .decodeE2m1 = decodeE2m1,       \
    .encodeE2m1Groups16 = encodeE2m1Groups16, .decodeE2m1Groups16 = decodeE2m1Groups16, .encodeBf16 = encodeBf16, \
    .decodeBf16Bytes = decodeBf16Bytes, .rmsNorm = rmsNorm, .queryNormVendor = queryNormVendor,                   \
    .inverseRms = inverseRms, .rope = rope, .hadamard = hadamard, .hcSplit = hcSplit, .hcHeadSplit = hcHeadSplit, \
    .hcCollapse = hcCollapse, .hcExpand = hcExpand, .attention = attention, .indexScores = indexScores,           \
    .indexScoresPacked = indexScoresPacked, .softmaxExp = softmaxExp, .pool = pool, .sqrtSoftplus = sqrtSoftplus, \
    .swiglu = swiglu, .gelu = gelu, .engramGate = engramGate, .add = add                                          \
  }
