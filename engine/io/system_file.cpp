#include "io/system_file.h"

#include <system_error>

namespace colibri {

Status SystemFile::openFailed(const std::filesystem::path& path, int error) {
  return Status(Code::kIo, "open_failed",
                path.filename().string() + " cannot be opened: " + std::generic_category().message(error) +
                    ". Check that the file is there and readable.",
                path.string());
}

Status SystemFile::notRegular(const std::filesystem::path& path) {
  return Status(Code::kIo, "open_failed", path.filename().string() + " is not a regular file.", path.string());
}

}  // namespace colibri
