#pragma once
// The form in which an activation row enters the integer expert linear (docs/numerics.md rule 2).

#include <cstdint>

namespace colibri {

/// 128 activations. q = e4m3 value * 2^9 is an integer of at most 18 bits and a sign:
/// q = limbs[0] + 2^8 limbs[1] + 2^16 limbs[2], limbs[i] signed bytes.
struct PreparedBlock {
  /// [limb][odd element?][lane*4 + i]: lane j's elements 8j + 2i (even) and 8j + 2i + 1 (odd), the order of a packed
  /// weight word's low and high nibbles.
  std::int8_t limbs[3][2][64];
  /// -12 * (sum of the lane's eight q): takes back the offset that makes the weights unsigned bytes.
  std::int32_t offset[16];
  /// Per lane 2^(activation exponent - 11): 2^-9 of q, 2^-1 of the doubled weight, 2^-1 of fp4GroupScales().
  float scale[16];
};
static_assert(sizeof(PreparedBlock) == 512);

}  // namespace colibri
