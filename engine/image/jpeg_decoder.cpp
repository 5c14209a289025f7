// JPEG by libjpeg. Its errors arrive by longjmp: the functions that call setjmp hold nothing that needs a destructor,
// all state is in a Reader that outlives them.
#include "image/decoders.h"

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

// They need <cstdio>'s types.
#include <jerror.h>
#include <jpeglib.h>

namespace colibri {
namespace {

/// A progressive file may hold any number of scans, each of which costs a walk over the whole picture.
constexpr int kMostScans = 500;

struct Reader {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf back{};
  std::array<char, JMSG_LENGTH_MAX> reason{};

  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { jpeg_destroy_decompress(&jpeg); }
};

[[noreturn]] void onError(j_common_ptr jpeg) {
  auto* reader = static_cast<Reader*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, reader->reason.data());
  std::longjmp(reader->back, 1);
}

void onMessage(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  // Where data are missing the library would go on with grey; other warnings are about harmless extras.
  if (jpeg->err->msg_code == JWRN_JPEG_EOF || jpeg->err->msg_code == JWRN_HIT_MARKER) onError(jpeg);
}

void onProgress(j_common_ptr jpeg) {
  auto* reader = static_cast<Reader*>(jpeg->client_data);
  if (reader->jpeg.input_scan_number <= kMostScans) return;
  std::snprintf(reader->reason.data(), reader->reason.size(), "more than %d scans", kMostScans);
  std::longjmp(reader->back, 1);
}

bool readHeader(Reader& reader, std::span<const std::byte> file) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  jpeg.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = onError;
  reader.errors.emit_message = onMessage;
  jpeg.client_data = &reader;
  if (setjmp(reader.back) != 0) return false;
  jpeg_create_decompress(&jpeg);
  reader.progress.progress_monitor = onProgress;
  jpeg.progress = &reader.progress;
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&jpeg, TRUE);
  const bool hasInk = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
  jpeg.out_color_space = hasInk ? JCS_CMYK : JCS_RGB;
  return true;
}

/// round(a * b / 255).
unsigned multiply255(unsigned a, unsigned b) {
  const unsigned product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

/// Four inverted inks to three bytes, as Pillow does it.
void inksToRgb(const JSAMPLE* inks, unsigned width, std::uint8_t* rgb) {
  for (unsigned x = 0; x < width; ++x, inks += 4, rgb += 3) {
    const unsigned light = inks[3];
    for (int c = 0; c < 3; ++c) {
      const unsigned ink = 255U - inks[c];
      rgb[c] = static_cast<std::uint8_t>(light - multiply255(ink, light));
    }
  }
}

bool readRows(Reader& reader, JSAMPLE* line, std::uint8_t* pixels) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  if (setjmp(reader.back) != 0) return false;
  jpeg_start_decompress(&jpeg);
  const std::size_t stride = std::size_t{3} * jpeg.output_width;
  while (jpeg.output_scanline < jpeg.output_height) {
    std::uint8_t* target = pixels + jpeg.output_scanline * stride;
    JSAMPROW row = line != nullptr ? line : target;
    if (jpeg_read_scanlines(&jpeg, &row, 1) == 1 && line != nullptr) inksToRgb(line, jpeg.output_width, target);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

}  // namespace

bool isJpeg(std::span<const std::byte> file) {
  constexpr std::array<unsigned char, 3> kStart{0xff, 0xd8, 0xff};
  return file.size() >= kStart.size() && std::memcmp(file.data(), kStart.data(), kStart.size()) == 0;
}

Result<ImagePixels> decodeJpeg(std::span<const std::byte> file, const ImageLimits& limits) {
  Reader reader;
  if (!readHeader(reader, file)) return damagedImage("JPEG", reader.reason.data());
  COLIBRI_ASSIGN_OR_RETURN(ImagePixels pixels, emptyPixels(reader.jpeg.image_width, reader.jpeg.image_height, limits));
  std::vector<JSAMPLE> line;
  if (reader.jpeg.out_color_space == JCS_CMYK) line.resize(std::size_t{4} * reader.jpeg.image_width);
  if (!readRows(reader, line.empty() ? nullptr : line.data(), pixels.rgb.data())) {
    return damagedImage("JPEG", reader.reason.data());
  }
  return pixels;
}

}  // namespace colibri
