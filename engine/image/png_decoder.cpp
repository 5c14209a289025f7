// PNG by libpng. Its errors arrive by longjmp: the functions that call setjmp hold nothing that needs a destructor, all
// state is in a Reader that outlives them.
#include "image/decoders.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <utility>

namespace colibri {
namespace {

constexpr std::array<unsigned char, 8> kSignature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
/// Text and profiles that nobody asked for may not unpack to more than this.
constexpr png_alloc_size_t kChunkBytes = png_alloc_size_t{8} << 20;

struct Reader {
  std::span<const std::byte> rest;
  png_structp png = nullptr;
  png_infop info = nullptr;
  png_uint_32 width = 0;
  png_uint_32 height = 0;
  std::array<char, 160> reason{};

  explicit Reader(std::span<const std::byte> file) : rest(file) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void onError(png_structp png, png_const_charp message) {
  auto* reader = static_cast<Reader*>(png_get_error_ptr(png));
  std::snprintf(reader->reason.data(), reader->reason.size(), "%s", message);
  png_longjmp(png, 1);
}

void onWarning(png_structp /*png*/, png_const_charp /*message*/) {}

void onRead(png_structp png, png_bytep target, std::size_t size) {
  auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (size > reader->rest.size()) png_error(png, "the file ends too early");
  std::memcpy(target, reader->rest.data(), size);
  reader->rest = reader->rest.subspan(size);
}

// The header with its size; every form becomes rows of red, green, blue.
bool readHeader(Reader& reader) {
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, onError, onWarning);
  if (reader.png == nullptr) return false;
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) return false;
  png_set_read_fn(reader.png, &reader, onRead);
  png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_chunk_malloc_max(reader.png, kChunkBytes);
  png_read_info(reader.png, reader.info);
  reader.width = png_get_image_width(reader.png, reader.info);
  reader.height = png_get_image_height(reader.png, reader.info);
  return true;
}

bool readRows(Reader& reader, png_bytep pixels) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  const png_byte color = png_get_color_type(reader.png, reader.info);
  png_set_strip_16(reader.png);
  png_set_packing(reader.png);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(reader.png);
  if ((color & PNG_COLOR_MASK_COLOR) == 0) {
    png_set_expand_gray_1_2_4_to_8(reader.png);
    png_set_gray_to_rgb(reader.png);
  }
  png_set_strip_alpha(reader.png);
  const int passes = png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  const std::size_t stride = std::size_t{3} * reader.width;
  if (png_get_rowbytes(reader.png, reader.info) != stride) png_error(reader.png, "unexpected layout of its rows");
  for (int pass = 0; pass < passes; ++pass) {
    for (png_uint_32 y = 0; y < reader.height; ++y) png_read_row(reader.png, pixels + y * stride, nullptr);
  }
  png_read_end(reader.png, nullptr);
  return true;
}

}  // namespace

bool isPng(std::span<const std::byte> file) {
  return file.size() >= kSignature.size() && std::memcmp(file.data(), kSignature.data(), kSignature.size()) == 0;
}

Result<ImagePixels> decodePng(std::span<const std::byte> file, const ImageLimits& limits) {
  Reader reader(file);
  if (!readHeader(reader)) return damagedImage("PNG", reader.reason.data());
  COLIBRI_ASSIGN_OR_RETURN(ImagePixels pixels, emptyPixels(reader.width, reader.height, limits));
  if (!readRows(reader, pixels.rgb.data())) return damagedImage("PNG", reader.reason.data());
  return pixels;
}

}  // namespace colibri
