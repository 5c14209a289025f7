#include "image/decoders.h"

#include <fstream>
#include <ios>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

Status fileTooLarge(std::uint64_t bytes, std::uint64_t limit) {
  return Status(Code::kUsage, "image_too_large",
                "The image file has " + std::to_string(bytes) + " bytes; at most " + std::to_string(limit) +
                    " are read. Save it smaller.");
}

Result<ImagePixels> decodeKnown(std::span<const std::byte> file, const ImageLimits& limits) {
  if (isPng(file)) return decodePng(file, limits);
  if (isJpeg(file)) return decodeJpeg(file, limits);
  if (isWebp(file)) return decodeWebp(file, limits);
  return Status(Code::kUsage, "image_format",
                "This is not an image that can be read; PNG, JPEG and WebP are. Save it in one of those formats.");
}

}  // namespace

Status damagedImage(std::string_view format, std::string_view reason) {
  std::string message = "The ";
  message.append(format).append(" image is damaged or incomplete");
  if (!reason.empty()) message.append(" (").append(reason).append(")");
  return Status(Code::kUsage, "image_damaged", message.append(". Fetch or save it again."));
}

Result<ImagePixels> emptyPixels(std::int64_t width, std::int64_t height, const ImageLimits& limits) {
  // A division, because the product of two sizes from a header may leave the type.
  if (width < 1 || height < 1 || width > limits.pixels / height) {
    return Status(Code::kUsage, "image_too_large",
                  "The image is " + std::to_string(width) + " x " + std::to_string(height) + " pixels; at most " +
                      std::to_string(limits.pixels) + " in all are read. Scale it down first.");
  }
  ImagePixels pixels;
  pixels.width = static_cast<int>(width);
  pixels.height = static_cast<int>(height);
  pixels.rgb.resize(static_cast<std::size_t>(width * height * 3));
  return pixels;
}

Result<ImagePixels> decodeImage(std::span<const std::byte> file, const ImageLimits& limits) {
  if (file.size() > limits.fileBytes) return fileTooLarge(file.size(), limits.fileBytes);
  try {
    return decodeKnown(file, limits);
  } catch (const std::bad_alloc&) {
    return Status(Code::kMemory, "out_of_memory", "The system has no memory left for this image.");
  }
}

Result<ImagePixels> loadImage(const std::filesystem::path& file, const ImageLimits& limits) {
  const auto unreadable = [&file](const std::string& reason) {
    return Status(Code::kIo, "image_unreadable", "The image " + file.string() + " cannot be read: " + reason + ".");
  };
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) return unreadable(error.message());
  if (size > limits.fileBytes) return fileTooLarge(size, limits.fileBytes).within(file.string());
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(bytes.data(), static_cast<std::streamsize>(size))) return unreadable("the read failed");
  Result<ImagePixels> pixels = decodeImage(std::as_bytes(std::span(bytes)), limits);
  if (!pixels) return pixels.status().within(file.string());
  return pixels;
}

}  // namespace colibri
