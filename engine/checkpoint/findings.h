#pragma once
// Making findings: shared by the header reader, the shard scan and verification.

#include <colibri/checkpoint.h>

#include <functional>
#include <string>
#include <string_view>

namespace colibri {

using FindingSink = std::function<void(Finding)>;

/// An error finding about `file` (and `tensor`). Names in it are made printable.
[[nodiscard]] Finding makeFinding(std::string_view code, std::string_view file, std::string_view tensor,
                                  std::string message, std::string fix = {});
/// The same as a warning.
[[nodiscard]] Finding makeWarning(std::string_view code, std::string_view file, std::string_view tensor,
                                  std::string message, std::string fix = {});
/// The finding as the error of an operation that needs a sound checkpoint.
[[nodiscard]] Status findingStatus(const Finding& finding);

/// "1 tensor", "17 tensors".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

inline constexpr std::string_view kDownloadAgain = "Download this file again, or run the download again to resume it.";

}  // namespace colibri
