#pragma once
// Seconds per byte: how fast this machine computes and reads, assumed at first, then taken from the user's own turns.

#include "plan/model_costs.h"
#include "plan/turn_history.h"

#include <span>
#include <string>
#include <string_view>

namespace colibri {

/// All in seconds per weight byte, with the machine's whole team at work.
struct CostConstants {
  double dense = 0;               ///< one row: attention, norms and head included
  double expert = 0;              ///< one row: routed and shared experts
  double denseRow = 0;            ///< and each row of a larger block
  double expertRow = 0;           ///< and each row of a block that one expert computes
  double diskBytesPerSecond = 0;  ///< expert reads over all drives; 0: nothing is known about any drive
  double decodeFactor = 1;        ///< measured over modelled time, from own turns: what the formulas leave out
  double prefillFactor = 1;
  double hitExponent = 1;     ///< for HitCurve::sharpen()
  bool computeBound = false;  ///< kernels, not memory, set the pace of the above
  int decodeTurns = 0;        ///< own turns behind the decode figures
  int prefillTurns = 0;
  double decodeSpread = 0;  ///< median relative deviation among them
  double prefillSpread = 0;
};

/// Before any turn: kernels' own limits for an instruction set, or the share of the memory's read rate that they reach,
/// whichever is slower. `memoryBytesPerSecond`: all threads together; 0: one typical channel a thread, 48 GB/s at most.
/// `isa`: a kernel set's name.
[[nodiscard]] CostConstants assumedConstants(std::string_view isa, int threads, double memoryBytesPerSecond);

/// Seconds per byte of the recorded turns with this isa and thread count, medians over the last kTurnsUsed; what they
/// do not tell stays as in `assumed`. The drive's rate comes from turns with the same `drives` only. decodeFactor,
/// prefillFactor and hitExponent are the predictor's to find.
[[nodiscard]] CostConstants measuredConstants(const CostConstants& assumed, const ModelCosts& costs,
                                              std::span<const TurnRecord> turns, std::string_view drives);

inline constexpr std::size_t kTurnsUsed = 8;

/// Median; 0 for none.
[[nodiscard]] double medianOf(std::vector<double> values);

}  // namespace colibri
