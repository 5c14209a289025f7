#pragma once
// Files that others may read at any moment: the old content or the new one, never a part.

#include <filesystem>
#include <string_view>
#include <system_error>

namespace colibri {

/// Writes `bytes` under another name in the same folder, which is made when it is missing, and puts that in place of
/// `path` in one step. After an error `path` is as it was and nothing is left beside it. Not synced to the drive.
[[nodiscard]] std::error_code replaceFile(const std::filesystem::path& path, std::string_view bytes);

}  // namespace colibri
