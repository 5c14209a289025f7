#pragma once
// The plan behind planMirror() and stageMirror().

#include "checkpoint/mirror_file.h"
#include "checkpoint/mirror_receipt.h"
#include "checkpoint/mirror_source.h"
#include <colibri/mirror.h>

#include <optional>

namespace colibri {

/// `receipt`: the folder's, when it has a sound one. Errors: kUsage "unknown_shard", kIo when the free space or a
/// shard cannot be read.
Result<MirrorPlan> planOf(const MirrorSystem& system, const MirrorSource& source,
                          const std::optional<MirrorReceipt>& receipt, const MirrorOptions& options);

/// Copies as stageMirror(), through `system`.
Result<MirrorStaged> stageThrough(const MirrorSystem& system, const std::filesystem::path& model,
                                  const std::filesystem::path& folder, const MirrorOptions& options,
                                  const MirrorEvents& events, const Cancellation& cancellation);

/// MirrorPlan::rateGain for a mirror that holds the share `covered` (0 to 1) of all expert bytes.
[[nodiscard]] double mirrorRateGain(double modelBytesPerSecond, double mirrorBytesPerSecond, double covered);

}  // namespace colibri
