#pragma once
// Small value types that several public headers share.

#include <cstddef>
#include <cstdint>

namespace colibri {

/// Id of a token in the model's vocabulary; 0 <= id < vocab_size.
using TokenId = std::int32_t;

/// Which roundings are made (docs/numerics.md). Part of a result's identity.
enum class Numerics { kVendor, kFp32 };

/// Whose index keys choose compressed entries while tokens come one at a time, in models that share them (V4.1). Part
/// of a result's identity.
enum class IndexKeyRule {
  kVendor,  ///< those published last, as in the released inference code
  kOwner    ///< always those of the layer's own source, as in a prompt
};

/// Instruction set of the kernels. kAuto is the best one that the processor has; results are the same bits for all.
enum class Isa { kAuto, kScalar, kAvx2, kAvx512, kNeon };

/// Purpose of a long-lived buffer. The planner's bars and the live bars are this enum, in this order.
enum class MemoryTag {
  kDense,
  kHead,
  kVision,
  kDraft,
  kKv,
  kScratch,
  kPinned,
  kEngramCache,
  kExpertCache,
  kCheckpoints,
  kReserve,
  kCount
};

}  // namespace colibri
