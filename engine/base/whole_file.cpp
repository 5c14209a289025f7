#include "base/whole_file.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace colibri {

std::error_code replaceFile(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) return error;
  std::filesystem::path temporary = path;
  temporary += "." + std::to_string(getpid()) + ".tmp";
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) std::filesystem::rename(temporary, path, error);
  if (!error) return error;
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  return error;
}

}  // namespace colibri
